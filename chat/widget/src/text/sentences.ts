// Where a growing answer has finished sentences, so that a screen reader reads those and not single words.

import { plain } from "./plain.ts";

const END = /[.!?:](?=["'\u201d\u201c\u00bb)\]]*(?:\s*\[\d[\d, ]*\])*["'\u201d\u201c\u00bb)\]]*\s)|\n/g;
/** A full stop after these ends no sentence: "z. B.", "e.g.", "3. Oktober". */
const NO_END =
  /(?:^|[\s("\u201e\u201c])(?:\p{L}|\p{L}\.\s?\p{L}|\d{1,2}|Dr|Prof|Nr|No|Art|Abs|Mr|Mrs|Ms|St|Str|ca|bzw|ggf|evtl|inkl|usw|vgl|etc|max|min|Tel)$/u;

/** The end of the last finished sentence in `text` after position `from`; `from` where there is none. */
export function finishedUpTo(text: string, from: number): number {
  let end = from;
  for (const match of text.slice(from).matchAll(END)) {
    const at = from + match.index;
    const stop = match[0] === ".";
    if (stop && NO_END.test(text.slice(Math.max(from, at - 12), at))) continue;
    end = at + 1;
  }
  return end;
}

/** How a piece of Markdown is read out. */
export function spoken(text: string): string {
  return plain(text)
    .replace(/^[\s:|-]*-{2,}|\*{1,2}|~~|\||^\s*[-*\u2022]\s+/gm, " ")
    .replace(/\s+/g, " ")
    .trim();
}
