// An answer's text on the page, drawn block by block and only where it changed.

import type { Source } from "../protocol.ts";
import type { Message } from "../state/message.ts";
import { CONTACT, withContacts } from "../text/contacts.ts";
import { webAddress } from "../text/links.ts";
import { blocks } from "../text/markdown.ts";
import { settled } from "../text/streaming.ts";
import { language, t } from "../words/words.ts";
import { el, morph } from "./dom.ts";
import { elementsOf } from "./markup.ts";
import { outward } from "./outward.ts";

export class AnswerText {
  readonly element: HTMLElement;
  #blocks: Array<{ key: string; node: ChildNode }> = [];

  /** `light` marks the chip of a source while its number is pointed at; `show` leads to it. */
  constructor({ light, show }: { light: (n: number, on: boolean) => void; show: (n: number) => void }) {
    const number = (event: Event): number | null => {
      const link = event.target instanceof Element ? event.target.closest("[data-n]") : null;
      return link ? Number(link.getAttribute("data-n")) : null;
    };
    const marked = (on: boolean) => (event: Event) => {
      const n = number(event);
      if (n !== null) light(n, on);
    };
    this.element = el("div", {
      class: "answer-text",
      dir: "auto",
      "data-test": "answer-text",
      on: {
        mouseover: marked(true),
        mouseout: marked(false),
        focusin: marked(true),
        focusout: marked(false),
        click: (event) => {
          const n = number(event);
          if (n === null) return;
          event.preventDefault();
          show(n);
        },
      },
    });
  }

  /** `linked`: an office wrote the text, and its links are links. */
  draw(message: Pick<Message, "text" | "sources">, writing: boolean, linked = false): void {
    const sources = new Map(message.sources.map((source) => [source.n, source]));
    const known = message.sources.map((source) => `${source.n} ${source.title}`).join("|");
    const wanted = blocks(writing ? settled(message.text) : message.text, linked);
    while (this.#blocks.length > wanted.length) this.#blocks.pop()?.node.remove();
    wanted.forEach((html, index) => {
      const changes = html.includes("<sup>") || html.search(CONTACT) >= 0;
      const key = changes ? `${html}\n${known}\n${writing}` : html;
      const current = this.#blocks[index];
      if (current?.key === key) return;
      const node = blockNode(html, sources, writing, linked);
      if (current) this.#blocks[index] = { key, node: morph(current.node, node) };
      else {
        this.element.append(node);
        this.#blocks[index] = { key, node };
      }
    });
    this.#tellLanguages(sources);
  }

  /** What is quoted of a page, or a table is named by, and the list or table below are read aloud in the page's language. */
  #tellLanguages(sources: ReadonlyMap<number, Source>): void {
    let last: string | undefined;
    for (const { node } of this.#blocks) {
      if (!(node instanceof HTMLElement)) continue;
      const n = node.querySelector("[data-n]")?.getAttribute("data-n");
      const names = node.firstElementChild?.tagName === "STRONG" && node.textContent === `${node.firstElementChild.textContent}\u00a0${n}`;
      if (n && (names || /^[\u201c\u201e]/.test(node.textContent ?? ""))) last = sources.get(+n)?.language;
      else if (n || node.tagName === "P") last = "";
      // The name of a table's frame and of a number's link are the chat's.
      if (last) (node.querySelector("table") ?? node).lang = last;
    }
  }
}

function blockNode(
  html: string,
  sources: ReadonlyMap<number, Source>,
  writing: boolean,
  linked: boolean,
): ChildNode {
  const block = elementsOf(html, linked).firstElementChild;
  if (!block) return document.createTextNode("");
  for (const link of block.querySelectorAll("a")) leadOut(link);
  for (const sup of block.querySelectorAll("sup")) cite(sup, sources, writing);
  // A number that is still growing would call somebody else.
  if (!writing) tappable(block);
  // Wider than the page: a table scrolls by itself, also with the keyboard.
  if (block.tagName !== "TABLE") return block;
  return el("div", { class: "answer-table", tabindex: "0", role: "region", "aria-label": t("table") }, block);
}

/** A link to a web page leads there like all that leave; of any other, and of one without words, the words stay. */
function leadOut(link: Element): void {
  const address = webAddress(link.getAttribute("href"));
  const words = document.createDocumentFragment();
  words.append(...link.childNodes);
  link.replaceWith(address && words.textContent?.trim() ? outward(address, words, "office-link") : words);
}

/** Mail addresses and telephone numbers in the words of an answer can be tapped. */
function tappable(block: Element): void {
  const walker = document.createTreeWalker(block, NodeFilter.SHOW_TEXT);
  const texts: Text[] = [];
  while (walker.nextNode()) texts.push(walker.currentNode as Text);
  for (const text of texts) {
    const pieces = withContacts(text.data);
    if (pieces.length === 1 || text.parentElement?.closest("a, code")) continue;
    text.replaceWith(
      ...pieces.map(({ text: words, address }) =>
        address ? el("a", { href: address, class: "tap", "data-test": "tap" }, words) : words,
      ),
    );
  }
}

/** A number whose source is not known (yet) stays hidden while writing, and is plain text once the answer is done. */
function cite(sup: Element, sources: ReadonlyMap<number, Source>, writing: boolean): void {
  const written = sup.textContent ?? "";
  const numbers = written.split(",").map(Number);
  const before = sup.previousSibling;
  // A number stays on the line of what it belongs to.
  if (before instanceof Text) before.data = before.data.replace(/ +$/, "\u00a0");
  const known = numbers.map((n) => sources.get(n));
  if (!writing && known.some((source) => source === undefined)) sup.replaceWith(`[${written}]`);
  else sup.replaceWith(...known.filter((source) => source !== undefined).map(citation));
}

/** A link, because it leads to a place on this page. */
function citation({ n, title }: Source): Element {
  const label = t("citation_label", { n, title: title || t("source_untitled") });
  return el(
    "sup",
    { lang: language() },
    el(
      "a",
      { href: `#source-${n}`, class: "citation", "data-test": "citation", "data-n": n, "aria-label": label },
      String(n),
    ),
  );
}
