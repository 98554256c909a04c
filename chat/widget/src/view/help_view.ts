// What somebody in need sees instead of an answer: a heading, who helps, with numbers to tap, and what to do.

import type { HelpCard, HelpContact } from "../protocol.ts";
import { hostOf, mailAddress, phoneAddress, webAddress } from "../text/links.ts";
import { t } from "../words/words.ts";
import { el } from "./dom.ts";
import { icon } from "./icons.ts";
import { outward } from "./outward.ts";

export function helpTitle({ kind }: HelpCard): HTMLElement {
  const drawing = icon(kind === "emergency" ? "warning" : "support");
  return el("h4", { class: "help__title", "data-test": "help-title" }, drawing, el("span", {}, t(`help_${kind}`)));
}

export function helpContacts({ contacts }: HelpCard): HTMLElement | null {
  if (contacts.length === 0) return null;
  return el("ul", { class: "help", "aria-label": t("help_contacts"), "data-test": "help" }, ...contacts.map(helper));
}

/** What a screen reader says of the whole card. */
export function spokenHelp(text: string, { kind, contacts }: HelpCard): string {
  const people = contacts.map(({ name, phone }) => (phone ? `${name}: ${phone}` : name));
  return [`${t(`help_${kind}`)}.`, text, people.join("; ")].join("\n");
}

function helper({ name, phone, url, email }: HelpContact): HTMLElement {
  const call = phoneAddress(phone);
  const number = phone && el("span", { class: "help__number", dir: "ltr" }, phone);
  const label = el("span", { class: "help__name", dir: "auto" }, name);
  const web = webAddress(url);
  const mail = mailAddress(email);
  const prefix = el("span", { class: "visually-hidden" }, `${t("help_call")} `);
  // Not draggable: the number can be selected.
  const link = { class: "help__line", href: call, draggable: "false", "data-test": "help-call" };
  return el(
    "li",
    { class: "help__contact", "data-test": "help-contact" },
    call
      ? el("a", link, icon("phone"), prefix, number, " ", label)
      : el("p", { class: "help__line" }, number, number && " ", label),
    (web || mail) &&
      el(
        "p",
        { class: "help__links" },
        web && outward(web, hostOf(web), "help-link"),
        mail && el("a", { href: mail, "data-test": "help-mail" }, email),
      ),
  );
}
