// A document's blocks as Markdown. A sign is escaped only where the text would otherwise be read as something else.

import { MarkdownSerializer, type MarkdownSerializerState } from "prosemirror-markdown";
import { Fragment, type Mark, type Node } from "prosemirror-model";
import { schema } from "../schema.ts";
import { readMarkdown } from "./read.ts";

const SIGNS = /[\\`*_~[\]<&]|!(?=\[)/g;
const LINE_START = /^(\s*)(?:([-+*>#=|:~])|(\d{1,9})(?=[.)]))/;

function escapeText(text: string, startsLine: boolean): string {
  const escaped = text.replace(SIGNS, "\\$&");
  if (!startsLine) return escaped;
  return escaped.replace(LINE_START, (_all, blank: string, sign?: string, number?: string) =>
    sign ? `${blank}\\${sign}` : `${blank}${number}\\`,
  );
}

function writeTarget({ href, title }: Mark["attrs"]): string {
  const address = /[\s()<>]/.test(href) ? `<${href.replace(/[<>]/g, "\\$&")}>` : href;
  return title ? `${address} "${title.replace(/["\\]/g, "\\$&")}"` : address;
}

function isBare(mark: Mark, parent: Node, index: number): boolean {
  const { href, title, reference } = mark.attrs;
  const text = parent.child(index);
  const next = index + 1 < parent.childCount && mark.isInSet(parent.child(index + 1).marks);
  return !title && !reference && text.text === href && text.marks.length === 1 && !next && !/[\s<>]/.test(href);
}

function writeTicks(text: string): [string, string] {
  const rows = new Set((text.match(/`+/g) ?? []).map((row) => row.length));
  let length = 1;
  while (rows.has(length)) length++;
  const ticks = "`".repeat(length);
  const pad = /^`|`$|^ .*[^ ].* $/.test(text) ? " " : "";
  return [ticks + pad, pad + ticks];
}

/** Whether what is written is an address in angle brackets; nothing in it is escaped. */
let inAddress = false;

const wraps = (sign: string) => ({ open: sign, close: sign, mixable: true, expelEnclosingWhitespace: true });
const MARKS = {
  em: wraps("*"),
  strong: wraps("**"),
  strike: wraps("~~"),
  link: {
    open: (_state: unknown, mark: Mark, parent: Node, index: number) => {
      inAddress = isBare(mark, parent, index);
      return inAddress ? "<" : "[";
    },
    close: (_state: unknown, mark: Mark) => {
      const wasAddress = inAddress;
      inAddress = false;
      if (wasAddress) return ">";
      return mark.attrs.reference ? `][${mark.attrs.reference}]` : `](${writeTarget(mark.attrs)})`;
    },
    mixable: true,
  },
  code: {
    open: (_state: unknown, _mark: Mark, parent: Node, index: number) => writeTicks(parent.child(index).text ?? "")[0],
    close: (_state: unknown, _mark: Mark, parent: Node, index: number) =>
      writeTicks(parent.child(index - 1).text ?? "")[1],
    escape: false,
  },
};

function endsLine(node: Node | null): boolean {
  return !node || node.type === schema.nodes.hard_break || node.type === schema.nodes.soft_break;
}

/** Return the serializer of one line of text or more. */
function linesOf(write: (text: string, startsLine: boolean) => string): MarkdownSerializer {
  return new MarkdownSerializer(
    {
      paragraph: (state, node) => state.renderInline(node),
      text: (state, node, parent, index) => {
        const before = index ? parent.child(index - 1) : null;
        const text = node.text ?? "";
        state.text(inAddress ? text : write(text, endsLine(before)), false);
      },
      hard_break: (state) => state.write("\\\n"),
      soft_break: (state) => state.write("\n"),
      image: (state, node) => state.write(`![${node.attrs.alt}](${writeTarget({ ...node.attrs, href: node.attrs.src })})`),
      page_mark: (state, node) => state.write(`<!-- page ${node.attrs.page} -->`),
    },
    MARKS,
  );
}

const plainly = linesOf((text) => text);
const escaped = linesOf(escapeText);

/** Return the content without blanks and breaks at its ends, which Markdown does not keep. */
function trim(content: Fragment): Fragment {
  const nodes = [...content.content];
  for (const [at, blank] of [[0, /^\s+/], [-1, /\s+$/]] as const) {
    for (let node = nodes.at(at); node; node = nodes.at(at)) {
      const rest = node.isText ? (node.text ?? "").replace(blank, "") : "";
      if (node.isText ? rest === node.text : !endsLine(node)) break;
      nodes.splice(at, 1, ...(rest ? [schema.text(rest, node.marks)] : []));
    }
  }
  return Fragment.fromArray(nodes);
}

/** Return the content as Markdown, which stands alone or behind `prefix`. */
function writeLines(content: Fragment, prefix = ""): string {
  const trimmed = trim(content);
  const text = schema.node("doc", null, schema.node("paragraph", null, trimmed));
  const plain = plainly.serialize(text);
  const read = plain ? readMarkdown(prefix + plain) : text;
  const isSame = read.childCount === 1 && (read.firstChild as Node).content.eq(trimmed);
  return isSame && (read.firstChild as Node).isTextblock ? plain : escaped.serialize(text);
}

const ALIGNED: Record<string, string> = { "": "---", left: ":--", center: ":-:", right: "--:" };

function writeTable(state: MarkdownSerializerState, table: Node): void {
  table.forEach((row, _offset, index) => {
    const cells = row.content.content.map((cell) => writeLines(cell.content).replace(/\|/g, "\\|"));
    if (index) state.ensureNewLine();
    state.write(`| ${cells.join(" | ")} |`);
    if (index) return;
    state.ensureNewLine();
    state.write(`| ${row.content.content.map((cell) => ALIGNED[cell.attrs.align]).join(" | ")} |`);
  });
  state.closeBlock(table);
}

function writeCode(state: MarkdownSerializerState, node: Node): void {
  const text = node.textContent;
  let fence = node.attrs.fence as string;
  while (text.includes(fence)) fence += fence[0];
  state.write(`${fence}${node.attrs.params}\n`);
  state.text(text, false);
  state.write("\n");
  state.write(fence);
  state.closeBlock(node);
}

const blocks = new MarkdownSerializer(
  {
    paragraph: (state, node) => {
      state.text(writeLines(node.content), false);
      state.closeBlock(node);
    },
    heading: (state, node) => {
      const signs = `${"#".repeat(node.attrs.level)} `;
      state.write(signs + writeLines(flat(node.content), signs));
      state.closeBlock(node);
    },
    blockquote: (state, node) => state.wrapBlock("> ", null, node, () => state.renderContent(node)),
    code_block: writeCode,
    bullet_list: (state, node) => state.renderList(node, "  ", () => `${node.attrs.bullet} `),
    ordered_list: (state, node) => {
      const { order, delimiter } = node.attrs;
      const wide = String(order + node.childCount - 1).length;
      state.renderList(node, " ".repeat(wide + 2), (i) => `${order + i}${delimiter} `.padEnd(wide + 2));
    },
    list_item: (state, node) => state.renderContent(node),
    horizontal_rule: (state, node) => {
      state.write(node.attrs.markup);
      state.closeBlock(node);
    },
    table: writeTable,
  },
  {},
);

/** Return a heading's content on one line. */
function flat(content: Fragment): Fragment {
  return Fragment.fromArray(
    content.content.map((node) => (endsLine(node) ? schema.text(" ", node.marks) : node)),
  );
}

/** Return a block of a document as Markdown; an empty paragraph is nothing. */
export function writeBlock(block: Node): string {
  return blocks.serialize(schema.node("doc", null, block));
}
