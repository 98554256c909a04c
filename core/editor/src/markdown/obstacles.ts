// Why a text can only be edited as Markdown: formatted, a part of it would be lost or read as something else.

import MarkdownIt from "markdown-it";
import { markdownIt, readMarkdown } from "./read.ts";
import { Source } from "./source.ts";
import { writeBlock } from "./write.ts";

export type Obstacle = "long" | "html" | "footnotes" | "definitions" | "table" | "other";

/** Characters: a longer text would take too long to open and to type in. */
export const MOST_CHARACTERS = 100_000;

const PAGE_MARKS = /<!-- page \d{1,5} -->/g;
const FOOTNOTE = /\[\^[^\]\s]+\]/;
const withHTML = MarkdownIt("commonmark", { html: true });
const isHTML = ({ type }: { type: string }) => type === "html_block" || type === "html_inline";

function countCells(row: string): number {
  const line = row.trim().replace(/^\|/, "").replace(/(?<!\\)\|$/, "");
  return line.split(/(?<!\\)\|/).length;
}

/** Return whether a row has more cells than its table has columns, which readers do not see. */
function hasHiddenCells(text: string): boolean {
  const lines = text.split("\n");
  let isTable = false;
  let columns = 0;
  for (const { type, map, nesting } of markdownIt.parse(text, {})) {
    if (type === "table_open" || type === "table_close") isTable = nesting > 0;
    if (type === "table_open") columns = 0;
    if (!isTable || type !== "tr_open" || !map) continue;
    const cells = countCells((lines[map[0]] ?? "").replace(/^[\s>]*/, ""));
    columns ||= cells;
    if (cells > columns) return true;
  }
  return false;
}

/** Return why the text can only be edited as Markdown, or what it was read from. */
export function open(text: string): Obstacle | Source {
  if (text.length > MOST_CHARACTERS) return "long";
  const tokens = withHTML.parse(text.replace(PAGE_MARKS, ""), {});
  if (tokens.some((token) => isHTML(token) || token.children?.some(isHTML))) return "html";
  if (FOOTNOTE.test(text)) return "footnotes";
  const env: { references?: object } = {};
  markdownIt.parse(text, env);
  if (Object.keys(env.references ?? {}).length) return "definitions";
  if (hasHiddenCells(text)) return "table";
  try {
    const source = new Source(text);
    const isKept = source.doc.content.content.every((block) => {
      const again = readMarkdown(writeBlock(block));
      return again.childCount === 1 && again.firstChild?.eq(block);
    });
    return isKept || !text.trim() ? source : "other";
  } catch {
    return "other";
  }
}
