// Reads an answer aloud for screen readers: finished sentences, not single words, and what else must be noticed.

import type { Block } from "../text/quoted.ts";
import { finishedUpTo, spoken } from "../text/sentences.ts";
import { el } from "./dom.ts";

const KEPT = 30;

export class Announcer {
  #region: HTMLElement;
  #said = new Map<number, number>();

  constructor(region: HTMLElement) {
    this.#region = region;
  }

  /** `lang` is empty for the chat's own language. */
  say(text: string, lang: string | null = ""): void {
    const words = text.replace(/\s+/g, " ").trim();
    // A quotation mark alone is nothing to read.
    if (!/[\p{L}\p{N}]/u.test(words)) return;
    this.#region.append(el("p", { lang: lang || null }, words));
    while (this.#region.childElementCount > KEPT) this.#region.firstElementChild?.remove();
  }

  /** Says what is new in a growing answer up to its last finished sentence; all of the rest when it is `done`. */
  follow(id: number, blocks: readonly Block[], done: boolean): void {
    const text = blocks.map(([words]) => words).join("");
    let said = this.#said.get(id) ?? 0;
    if (said > text.length) said = 0;
    const until = done ? text.length : finishedUpTo(text, said);
    let end = 0;
    for (const [words, language] of blocks) {
      end += words.length;
      if (language === null && end === text.length && !done) break;
      const to = Math.min(end, until);
      if (to <= said) continue;
      this.say(spoken(text.slice(said, to)), language);
      said = to;
    }
    this.#said.set(id, said);
  }
}
