// Whether an answer already shows what a source quotes.

import { plain } from "./plain.ts";

/** `byWord`: the text is quotes, of which a table names its columns once and a quote of it in every cell. */
export function stands(quote: string, text: string, byWord: boolean): boolean {
  const wanted = words(quote.replace(/ \u2026$/, ""));
  const there = words(plain(text));
  if (` ${there.join(" ")} `.includes(` ${wanted.join(" ")} `)) return true;
  const known = new Set(there);
  return byWord && wanted.every((word) => known.has(word));
}

function words(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}
