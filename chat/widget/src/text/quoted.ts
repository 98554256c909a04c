// What an answer quotes: whether it shows a source's words already, and in which language they are read aloud.

import type { Source } from "../protocol.ts";
import { plain } from "./plain.ts";

/** `byWord`: the text is quotes, of which a table names its columns once and a quote of it in every cell. */
export function stands(quote: string, text: string, byWord: boolean): boolean {
  const wanted = words(quote.replace(/ \u2026$/, ""));
  const there = words(plain(text));
  if (` ${there.join(" ")} `.includes(` ${wanted.join(" ")} `)) return true;
  const known = new Set(there);
  return byWord && wanted.every((word) => known.has(word));
}

/** Words in one language; "" is that of the chat, null is not known before the number of the quote is there. */
export type Block = readonly [words: string, language: string | null];

/** All of `text`; what it quotes, or what it names a table by, and a list or table below are in the language of the page. */
export function quotedBlocks(text: string, sources: readonly Source[]): Block[] {
  let language: string | undefined = "";
  return (text.match(/(?:.|\n(?!\n))+\n*|\n+/g) ?? []).map((block) => {
    const n = /\[(\d+)[\],]/.exec(block)?.[1];
    const quotes = /^(?:[\u201c\u201e]|\*\*.+\*\* \[\d+\]\s*$)/.test(block);
    if (quotes && !n) return [block, null];
    if (quotes) language = sources.find((source) => source.n === Number(n))?.language;
    else if (n || !/^\s*(?:[-*+|]|\d+\.\s)/.test(block)) language = "";
    return [block, language || ""];
  });
}

function words(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}
