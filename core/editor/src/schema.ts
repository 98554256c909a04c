// What a formatted text consists of: no more than Markdown can write and the server renders.

import { type DOMOutputSpec, type MarkSpec, type NodeSpec, Schema } from "prosemirror-model";
import { tableNodes } from "prosemirror-tables";
import { isSafeLink } from "./links.ts";

const LEVELS = [1, 2, 3, 4, 5, 6];

/** A cell is a line of text: Markdown has no paragraphs and breaks in tables. */
const cells = tableNodes({
  tableGroup: "block",
  cellContent: "(text | image | page_mark)*",
  cellAttributes: {
    align: {
      default: "",
      getFromDOM: (cell) => /left|right|center/.exec(cell.style.textAlign)?.[0] ?? "",
      setDOMAttr: (value, attrs) => {
        if (value) attrs["data-align"] = value;
      },
    },
  },
});

const nodes = {
  doc: { content: "block+" },
  paragraph: { content: "inline*", group: "block", parseDOM: [{ tag: "p" }], toDOM: () => ["p", 0] },
  heading: {
    attrs: { level: { default: 2 } },
    content: "inline*",
    group: "block",
    defining: true,
    parseDOM: LEVELS.map((level) => ({ tag: `h${level}`, attrs: { level } })),
    toDOM: (node) => [`h${node.attrs.level}`, 0],
  },
  blockquote: {
    content: "block+",
    group: "block",
    defining: true,
    parseDOM: [{ tag: "blockquote" }],
    toDOM: () => ["blockquote", 0],
  },
  code_block: {
    attrs: { params: { default: "" }, fence: { default: "```" } },
    content: "text*",
    marks: "",
    group: "block",
    code: true,
    defining: true,
    parseDOM: [{ tag: "pre", preserveWhitespace: "full" }],
    toDOM: () => ["pre", ["code", 0]],
  },
  bullet_list: {
    attrs: { bullet: { default: "-" }, tight: { default: true } },
    content: "list_item+",
    group: "block",
    parseDOM: [{ tag: "ul" }],
    toDOM: () => ["ul", 0],
  },
  ordered_list: {
    attrs: { order: { default: 1 }, delimiter: { default: "." }, tight: { default: true } },
    content: "list_item+",
    group: "block",
    parseDOM: [{ tag: "ol", getAttrs: (list) => ({ order: (list as HTMLOListElement).start }) }],
    toDOM: (node) => ["ol", node.attrs.order === 1 ? {} : { start: node.attrs.order }, 0],
  },
  list_item: { content: "block+", defining: true, parseDOM: [{ tag: "li" }], toDOM: () => ["li", 0] },
  horizontal_rule: {
    attrs: { markup: { default: "---" } },
    group: "block",
    parseDOM: [{ tag: "hr" }],
    toDOM: () => ["hr"],
  },
  ...cells,
  text: { group: "inline" },
  hard_break: { ...leaf(["br"]), parseDOM: [{ tag: "br" }] },
  /** A line that ends within a paragraph: the style sheet says whether readers see it. */
  soft_break: leaf(["span", { class: "editor-soft-break" }, " "]),
  image: {
    ...leaf((node) => ["span", { class: "editor-mark", title: node.attrs.src }, `🖼 ${node.attrs.alt}`]),
    attrs: { src: {}, alt: { default: "" }, title: { default: "" } },
  },
  /** Where a page of an imported PDF begins. */
  page_mark: {
    ...leaf((node) => ["span", { class: "editor-mark" }, `¶ ${node.attrs.page}`]),
    attrs: { page: {} },
  },
} satisfies Record<string, NodeSpec>;

const marks = {
  link: {
    attrs: { href: { default: "" }, title: { default: "" }, reference: { default: "" } },
    inclusive: false,
    parseDOM: [
      {
        tag: "a[href]",
        getAttrs: (link) => {
          const href = (link as Element).getAttribute("href") ?? "";
          return isSafeLink(href) && { href };
        },
      },
      {
        tag: "a[data-reference]",
        getAttrs: (link) => ({ reference: (link as HTMLElement).dataset.reference }),
      },
    ],
    toDOM: ({ attrs: { href, reference } }) =>
      reference ? ["a", { "data-reference": reference }, 0] : ["a", { href, title: href, rel: "noopener" }, 0],
  },
  em: { parseDOM: [{ tag: "em" }, { tag: "i" }], toDOM: () => ["em", 0] },
  strong: { parseDOM: [{ tag: "strong" }, { tag: "b" }], toDOM: () => ["strong", 0] },
  strike: { parseDOM: [{ tag: "s" }, { tag: "del" }], toDOM: () => ["s", 0] },
  code: { parseDOM: [{ tag: "code" }], toDOM: () => ["code", 0] },
} satisfies Record<string, MarkSpec>;

function leaf(look: DOMOutputSpec | NonNullable<NodeSpec["toDOM"]>): NodeSpec {
  return {
    inline: true,
    group: "inline",
    selectable: false,
    toDOM: typeof look === "function" ? look : () => look,
  };
}

export const schema = new Schema({ nodes: nodes as Record<keyof typeof nodes, NodeSpec>, marks });
