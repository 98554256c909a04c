// Markdown as the server reads it (CommonMark, tables, struck-out text), and the document made of it.

import MarkdownIt from "markdown-it";
import type StateInline from "markdown-it/lib/rules_inline/state_inline.mjs";
import type Token from "markdown-it/lib/token.mjs";
import { MarkdownParser } from "prosemirror-markdown";
import type { Node } from "prosemirror-model";
import { isSafeLink } from "../links.ts";
import { schema } from "../schema.ts";

const PAGE_MARK = /^<!-- page (\d{1,5}) -->/;

/** `[text][3]`: the third link of a crawled page, whose addresses stand beside the text. */
function readReference(state: StateInline, silent: boolean): boolean {
  if (state.src[state.pos] !== "[") return false;
  const begin = state.pos;
  const end = state.md.helpers.parseLinkLabel(state, begin);
  const label = end < 0 ? null : /^\]\[(\d{1,6})\]/.exec(state.src.slice(end, end + 9));
  if (!label) return false;
  if (!silent) {
    const most = state.posMax;
    state.pos = begin + 1;
    state.posMax = end;
    state.push("link_open", "a", 1).attrs = [["reference", label[1] ?? ""]];
    state.md.inline.tokenize(state);
    state.push("link_close", "a", -1);
    state.posMax = most;
  }
  state.pos = end + label[0].length;
  return true;
}

function readPageMark(state: StateInline, silent: boolean): boolean {
  const found = state.src[state.pos] === "<" && PAGE_MARK.exec(state.src.slice(state.pos, state.pos + 20));
  if (!found) return false;
  if (!silent) state.push("page_mark", "", 0).attrs = [["page", found[1] ?? ""]];
  state.pos += found[0].length;
  return true;
}

export const markdownIt = MarkdownIt("commonmark", { html: false }).enable(["table", "strikethrough"]);
markdownIt.validateLink = isSafeLink;
markdownIt.inline.ruler.before("link", "reference", readReference);
markdownIt.inline.ruler.before("autolink", "page_mark", readPageMark);

function isTight(tokens: readonly Token[], list: number): boolean {
  const level = (tokens[list]?.level ?? 0) + 2;
  for (let i = list + 1; i < tokens.length && (tokens[i]?.level ?? 0) >= level - 1; i++)
    if (tokens[i]?.type === "paragraph_open" && tokens[i]?.level === level) return tokens[i]?.hidden ?? true;
  return true;
}

const align = (token: Token) => ({ align: /left|right|center/.exec(String(token.attrGet("style")))?.[0] ?? "" });
const given = (name: string) => (token: Token) => ({ [name]: token.attrGet(name) ?? "" });

const parser = new MarkdownParser(schema, markdownIt, {
  paragraph: { block: "paragraph" },
  heading: { block: "heading", getAttrs: (token) => ({ level: Number(token.tag.slice(1)) }) },
  blockquote: { block: "blockquote" },
  bullet_list: {
    block: "bullet_list",
    getAttrs: (token, tokens, i) => ({ bullet: token.markup, tight: isTight(tokens, i) }),
  },
  ordered_list: {
    block: "ordered_list",
    getAttrs: (token, tokens, i) => ({
      order: Number(token.attrGet("start") ?? 1),
      delimiter: token.markup,
      tight: isTight(tokens, i),
    }),
  },
  list_item: { block: "list_item" },
  code_block: { block: "code_block", noCloseToken: true },
  fence: {
    block: "code_block",
    getAttrs: (token) => ({ params: token.info, fence: token.markup }),
    noCloseToken: true,
  },
  hr: { node: "horizontal_rule", getAttrs: (token) => ({ markup: token.markup }) },
  table: { block: "table" },
  thead: { ignore: true },
  tbody: { ignore: true },
  tr: { block: "table_row" },
  th: { block: "table_header", getAttrs: align },
  td: { block: "table_cell", getAttrs: align },
  hardbreak: { node: "hard_break" },
  softbreak: { node: "soft_break" },
  image: {
    node: "image",
    getAttrs: (token) => ({ ...given("src")(token), ...given("title")(token), alt: token.content }),
  },
  page_mark: { node: "page_mark", getAttrs: given("page") },
  link: {
    mark: "link",
    getAttrs: (token) => ({ ...given("href")(token), ...given("title")(token), ...given("reference")(token) }),
  },
  em: { mark: "em" },
  strong: { mark: "strong" },
  s: { mark: "strike" },
  code_inline: { mark: "code", noCloseToken: true },
});

/** Return the document of a text. Throw an error if something in it has no place in one. */
export function readMarkdown(text: string): Node {
  return parser.parse(text);
}
