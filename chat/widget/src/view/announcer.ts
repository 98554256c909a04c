// Reads an answer aloud for screen readers: finished sentences, not single words, and what else must be noticed.

import { finishedUpTo, spoken } from "../text/sentences.ts";
import { el } from "./dom.ts";

const KEPT = 30;

export class Announcer {
  #region: HTMLElement;
  #said = new Map<number, number>();

  constructor(region: HTMLElement) {
    this.#region = region;
  }

  say(text: string): void {
    const words = text.replace(/\s+/g, " ").trim();
    if (!words) return;
    this.#region.append(el("p", {}, words));
    while (this.#region.childElementCount > KEPT) this.#region.firstElementChild?.remove();
  }

  /** Says what is new in a growing answer up to its last finished sentence; all of the rest when it is `done`. */
  follow(id: number, text: string, done: boolean): void {
    let said = this.#said.get(id) ?? 0;
    if (said > text.length) said = 0;
    const end = done ? text.length : finishedUpTo(text, said);
    if (end > said) this.say(spoken(text.slice(said, end)));
    this.#said.set(id, end);
  }
}
