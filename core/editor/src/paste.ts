// What is pasted from elsewhere: headings, lists, tables and links of it, without its fonts, colours and pictures.

import { DOMParser, type Mark, type Node, type ParseOptions, Fragment, Slice } from "prosemirror-model";
import { schema } from "./schema.ts";

const DROPPED = "script, style, title, img, picture, svg, video, audio, iframe, object, form button, input, select, textarea";
/** Blocks whose text is a part of the one line of their cell. */
const BLOCKS = "p, div, ul, ol, li, br, pre, blockquote, h1, h2, h3, h4, h5, h6";

/** Hide the styles of a page from the content security policy, which would report each of them. */
export function hideStyles(html: string): string {
  return html.replace(/<style\b[^]*?<\/style\s*>/gi, "").replace(/(<[a-z][^<>]*?\s)style(\s*=)/gi, "$1data-style$2");
}

/** Reads what other programs copied; what this editor copied stays as it is. */
export class ForeignParser extends DOMParser {
  override parseSlice(dom: globalThis.Node, options?: ParseOptions): Slice {
    const root = dom as HTMLElement;
    if (root.querySelector("[data-pm-slice]")) return super.parseSlice(dom, options);
    tidy(root);
    const slice = super.parseSlice(dom, options);
    return new Slice(keepLinks(slice.content), slice.openStart, slice.openEnd);
  }
}

export function tidy(root: HTMLElement): void {
  for (const each of root.querySelectorAll(DROPPED)) each.remove();
  listWordsItems(root);
  for (const cell of root.querySelectorAll("td, th")) {
    for (const inner of cell.querySelectorAll("table")) inner.replaceWith(inner.textContent ?? "");
    for (const block of cell.querySelectorAll(BLOCKS)) block.replaceWith(" ", ...block.childNodes);
    spread(cell as HTMLTableCellElement);
  }
  for (const caption of root.querySelectorAll("caption")) {
    const text = root.ownerDocument.createElement("p");
    text.append(...caption.childNodes);
    caption.closest("table")?.before(text);
    caption.remove();
  }
}

/** Give a cell that spans others empty ones beside it, as Markdown has no others. */
function spread(cell: HTMLTableCellElement): void {
  const { colSpan, rowSpan, cellIndex } = cell;
  cell.removeAttribute("colspan");
  cell.removeAttribute("rowspan");
  const empty = () => cell.ownerDocument.createElement("td");
  for (let i = 1; i < Math.min(colSpan, 100); i++) cell.after(empty());
  let row = cell.parentElement?.nextElementSibling;
  for (let i = 1; i < Math.min(rowSpan, 100) && row; i++, row = row.nextElementSibling)
    for (let column = 0; column < Math.min(colSpan, 100); column++) row.insertBefore(empty(), row.children[cellIndex] ?? null);
}

/** Make lists of Word's paragraphs that only look like items. */
function listWordsItems(root: HTMLElement): void {
  const items = [...root.querySelectorAll<HTMLElement>("p[data-style*='mso-list']")];
  const open: { level: number; list: HTMLElement }[] = [];
  let last: Element | null = null;
  for (const item of items) {
    const level = Number(/level(\d)/.exec(item.dataset.style ?? "")?.[1] ?? 1);
    const sign = item.querySelector("span[data-style*='Ignore']");
    const name = /^\s*(\d+|[a-z]{1,4})[.)]/i.test(sign?.textContent ?? "") ? "ol" : "ul";
    sign?.remove();
    if (!last || item.previousElementSibling !== last) open.length = 0;
    while (open.length && (open.at(-1)?.level ?? 0) > level) open.pop();
    let top = open.at(-1);
    if (!top || top.level < level) {
      const list = root.ownerDocument.createElement(name);
      if (top?.list.lastElementChild) top.list.lastElementChild.append(list);
      else item.before(list);
      top = { level, list };
      open.push(top);
    }
    const entry = root.ownerDocument.createElement("li");
    entry.append(...item.childNodes);
    top.list.append(entry);
    item.remove();
    last = open[0]?.list ?? null;
  }
}

/** Return the content with its links, and no other marks. */
function keepLinks(content: Fragment): Fragment {
  const isLink = (mark: Mark) => mark.type === schema.marks.link;
  const kept = (node: Node): Node =>
    node.isText ? node.mark(node.marks.filter(isLink)) : node.mark([]).copy(keepLinks(node.content));
  return Fragment.fromArray(content.content.map(kept));
}

export const foreignParser = new ForeignParser(schema, DOMParser.fromSchema(schema).rules);
