// The e-mail addresses and telephone numbers in a text.

import { mailAddress, phoneAddress } from "./links.ts";

/** A number begins with a plus or a zero and has a gap: what has none may be any other number. */
export const CONTACT =
  /([^\s@<>"'(),;:?&%/]+@[\w-]+(?:\.[\w-]+)*\.[a-z]{2,})|(^|[\s(:,])((?:\+[1-9]\d{0,2}|0[1-9]\d{0,4})(?:[ /-]{1,2}|\s?\(0\)\s?)[\d /-]{3,16}\d)(?![\d.,]?\d)/gi;

/** The text in pieces; those with an `address` can be tapped. */
export function withContacts(text: string): { text: string; address: string | null }[] {
  const pieces: { text: string; address: string | null }[] = [];
  let end = 0;
  for (const match of text.matchAll(CONTACT)) {
    const [, mail, before = "", phone = ""] = match;
    const address = mail ? mailAddress(mail) : phoneAddress(phone);
    const isNumber = phone.replace(/\D/g, "").length >= 7 && !/^\d\d[ /-]\d\d[ /-]\d{2,4}$/.test(phone);
    if (!address || !(mail || isNumber)) continue;
    const start = match.index + before.length;
    pieces.push({ text: text.slice(end, start), address: null }, { text: mail ?? phone, address });
    end = start + (mail ?? phone).length;
  }
  return [...pieces, { text: text.slice(end), address: null }];
}
