// The text that a document was read from, so that every block that nobody touches keeps its bytes.

import type Token from "markdown-it/lib/token.mjs";
import type { Node } from "prosemirror-model";
import { markdownIt, readMarkdown } from "./read.ts";
import { writeBlock } from "./write.ts";

const APART = "\n\n";

interface Block {
  readonly node: Node;
  readonly text: string;
  /** What stands between it and the next block. */
  readonly gap: string;
}

export class Source {
  readonly doc: Node;
  readonly #head: string;
  readonly #tail: string;
  readonly #blocks: readonly Block[];
  readonly #places: ReadonlyMap<Node, number>;
  /** Blocks that were written before, as long as the document has them. */
  readonly #written = new WeakMap<Node, string>();

  /** Throw an error if the text has something that has no place in a document. */
  constructor(text: string) {
    this.doc = readMarkdown(text);
    const tokens = markdownIt.parse(text, {});
    if (listTexts(tokens) !== this.doc.textContent) throw new Error("text without a place");
    const spans = findSpans(text, tokens);
    if (spans.length && spans.length !== this.doc.childCount) throw new Error("blocks without lines of their own");
    this.#head = text.slice(0, spans[0]?.[0] ?? text.length);
    this.#tail = spans.length ? text.slice(spans.at(-1)?.[1]) : "";
    this.#blocks = spans.map(([begin, end], i) => ({
      node: this.doc.child(i),
      text: text.slice(begin, end),
      gap: text.slice(end, spans[i + 1]?.[0] ?? end),
    }));
    this.#places = new Map(this.#blocks.map(({ node }, place) => [node, place]));
  }

  /** Return the present document as Markdown: touched blocks anew, the others as they were. */
  write(doc: Node): string {
    const nodes = doc.content.content.filter((node) => this.#places.has(node) || this.#write(node));
    const places = this.#align(nodes);
    let text = this.#head;
    nodes.forEach((node, i) => {
      text += this.#write(node);
      if (i + 1 < nodes.length) text += this.#gap(nodes, places, i);
    });
    return text + this.#tail;
  }

  #write(node: Node): string {
    const place = this.#places.get(node);
    if (place !== undefined) return this.#blocks[place]?.text ?? "";
    let text = this.#written.get(node);
    if (text === undefined) {
      text = writeBlock(node);
      this.#written.set(node, text);
    }
    return text;
  }

  /** Return which block of the original each one is or stands for; -1 for a further one. */
  #align(nodes: readonly Node[]): number[] {
    const places: number[] = [];
    let last = -1;
    for (const node of nodes) {
      const place = this.#places.get(node) ?? -1;
      places.push(place > last ? place : -1);
      last = Math.max(last, place);
    }
    for (let begin = 0; begin < places.length; begin++) {
      if (places[begin] !== -1) continue;
      let end = begin;
      while (places[end] === -1) end++;
      const before = begin ? (places[begin - 1] ?? -1) : -1;
      const after = end < places.length ? (places[end] ?? -1) : this.#blocks.length;
      if (after - before - 1 === end - begin) for (let i = begin; i < end; i++) places[i] = before + 1 + i - begin;
      begin = end;
    }
    return places;
  }

  #gap(nodes: readonly Node[], places: readonly number[], i: number): string {
    const place = places[i] ?? -1;
    if (place < 0 || places[i + 1] !== place + 1) return APART;
    const gap = this.#blocks[place]?.gap ?? APART;
    const [left, right] = [nodes[i] as Node, nodes[i + 1] as Node];
    if (this.#places.has(left) && this.#places.has(right)) return gap;
    const read = readMarkdown(this.#write(left) + gap + this.#write(right));
    return read.childCount === 2 && read.child(0).eq(left) && read.child(1).eq(right) ? gap : APART;
  }
}

/** Return all that readers see of a text, as one string. */
function listTexts(tokens: readonly Token[]): string {
  const texts = { text: (said: string) => said, code_inline: cut, fence: cut, code_block: cut };
  return tokens
    .flatMap((token) => (token.type === "inline" ? (token.children ?? []) : [token]))
    .map(({ type, content }) => (type in texts ? texts[type as keyof typeof texts](content) : ""))
    .join("");
}

function cut(code: string): string {
  return code.replace(/\n$/, "");
}

/** Return where each block of a text begins and ends, without the blank lines behind it. */
function findSpans(text: string, tokens: readonly Token[]): [number, number][] {
  const lines = text.split("\n");
  const begins = [0];
  for (const line of lines) begins.push((begins.at(-1) ?? 0) + line.length + 1);
  return tokens
    .filter((token) => token.level === 0 && token.nesting >= 0 && token.map)
    .map(({ map }) => {
      const [first, behind] = map as [number, number];
      let last = behind - 1;
      while (last > first && !lines[last]?.trim()) last--;
      return [begins[first] ?? 0, (begins[last] ?? 0) + (lines[last]?.length ?? 0)];
    });
}
