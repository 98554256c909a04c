// Reads an answer aloud for screen readers: finished sentences, not single words, and what else must be noticed.

import { plain } from "./text.js";

const SENTENCE_END = /[.!?:](?=["'”“)\]]*\s)|\n/g;
const KEPT = 30;

export class Announcer {
  #region;
  #said = new Map();

  constructor(region) {
    this.#region = region;
  }

  say(text) {
    const words = text.replace(/\s+/g, " ").trim();
    if (!words) return;
    const line = document.createElement("p");
    line.textContent = words;
    this.#region.append(line);
    while (this.#region.childElementCount > KEPT) this.#region.firstElementChild.remove();
  }

  /** Says what is new in a growing answer up to its last finished sentence; all of the rest when it is `done`. */
  follow(id, text, done) {
    let said = this.#said.get(id) ?? 0;
    if (said > text.length) said = 0;
    let end = text.length;
    if (!done) {
      end = said;
      for (const match of text.slice(said).matchAll(SENTENCE_END)) end = said + match.index + match[0].length;
    }
    if (end > said) this.say(plain(text.slice(said, end)).replace(/\*\*|\||^[\s:-]*-{2,}|^\s*[-*•]\s+/gm, " "));
    this.#said.set(id, end);
  }
}
