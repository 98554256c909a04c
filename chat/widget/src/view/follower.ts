// Follows a growing answer until its question is at the top, and on to its end only if the reader went there. Never
// takes the page out of a reader's hands.

import { t } from "../words/words.ts";
import { el, onceAFrame, setText } from "./dom.ts";
import { icon } from "./icons.ts";

const NEAR = 96;

export class Follower {
  /** The button that leads back to the end. */
  readonly jump: HTMLElement;
  #label = el("span", {});
  #box: HTMLElement;
  #following = true;
  #top = 0;
  #unread = false;
  /** The question that is being answered. */
  #keep: HTMLElement | null = null;
  /** The reader went to the end, and wants to stay there. */
  #atEnd = false;
  /** Whether the reader did something since `toEnd`. A browser also scrolls by itself when it learns the heights of messages. */
  #touched = false;
  /** What the reader was led to: following the end does not push it out of sight. */
  #held: Element | null = null;
  #list: HTMLElement;

  /** `box` is the element that scrolls, `list` what grows in it. */
  constructor(box: HTMLElement, list: HTMLElement) {
    this.#box = box;
    this.#list = list;
    this.jump = el(
      "button",
      { type: "button", class: "jump", "data-test": "jump", hidden: true, on: { click: () => this.#goToEnd() } },
      icon("down"),
      this.#label,
    );
    const look = onceAFrame(() => this.#showJump());
    box.addEventListener("scroll", () => {
      // Only a movement upwards is the reader's wish to stay; at the very end it is a page that became shorter.
      const moved = Math.abs(box.scrollTop - this.#top) >= 1;
      const upwards = box.scrollTop < this.#top;
      if (moved && this.#touched) this.#atEnd = !upwards && this.#distance() <= 4;
      if (this.#distance() <= (upwards ? 4 : NEAR)) this.#following = true;
      else if (upwards) this.#following = false;
      this.#top = box.scrollTop;
      look();
    });
    // The wish is known before the page has moved: a first small step must not be taken back by the next word.
    const stay = () => {
      if (box.scrollTop > 0) this.#following = false;
    };
    const free = () => {
      this.#held = null;
      this.#touched = true;
    };
    box.addEventListener("wheel", (event) => event.deltaY < 0 && stay(), { passive: true });
    box.addEventListener("touchmove", stay, { passive: true });
    for (const act of ["wheel", "pointerdown", "keydown"]) box.addEventListener(act, free, { passive: true });
    box.addEventListener("keydown", (event) => {
      if (["ArrowUp", "PageUp", "Home"].includes(event.key)) stay();
    });
    new ResizeObserver(() => this.grew()).observe(box);
  }

  /** To the end now, and on from there. */
  toEnd(): void {
    this.#held = null;
    this.#atEnd = this.#touched = false;
    this.#following = true;
    this.#unread = false;
    this.#scrollTo(this.#end());
    // Messages that were not drawn while out of sight have their true height only now.
    requestAnimationFrame(() => {
      if (this.#following) this.#scrollTo(this.#end());
    });
  }

  #goToEnd(): void {
    this.toEnd();
    this.#atEnd = true;
  }

  /** Keeps `element` in sight until the reader does something. */
  hold(element: Element | null): void {
    this.#held = element;
  }

  /**
   * The list or its box has another height. `keep` is an element whose beginning must stay in sight, by default the last one;
   * `isNew`: something was said that was not there before.
   */
  grew({ keep = this.#keep, isNew = false }: { keep?: HTMLElement | null; isNew?: boolean } = {}): void {
    this.#keep = keep;
    if (this.#list.hidden) return;
    if (this.#following) {
      const end = Math.max(this.#box.scrollTop, keep && !this.#atEnd ? this.#beginningOf(keep) : this.#end());
      this.#scrollTo(Math.min(end, this.#held ? this.#topOf(this.#held.getBoundingClientRect().top - 12) : Infinity));
    }
    if (isNew && this.#distance() > NEAR) this.#unread = true;
    this.#showJump();
  }

  /** A question has half of the height at most: the other half is its answer's. */
  #beginningOf(question: HTMLElement): number {
    const { top, bottom } = question.getBoundingClientRect();
    const { scrollHeight, clientHeight } = this.#box;
    return Math.min(scrollHeight - clientHeight, this.#topOf(Math.max(top - 12, bottom - clientHeight / 2)));
  }

  /** How far to scroll for what is seen at height `y` to be at the top. */
  #topOf(y: number): number {
    return this.#box.scrollTop + y - this.#box.getBoundingClientRect().top;
  }

  /** Of the list, not of what follows it. Where nothing was said yet, the welcome is read from its beginning. */
  #end(): number {
    const { bottom } = this.#list.getBoundingClientRect();
    return this.#list.hidden ? 0 : Math.max(0, this.#topOf(bottom + 12 - this.#box.clientHeight));
  }

  #distance(): number {
    return this.#end() - this.#box.scrollTop;
  }

  #scrollTo(top: number): void {
    if (Math.abs(top - this.#box.scrollTop) < 1) return;
    this.#box.scrollTo({ top, behavior: "instant" });
    this.#top = this.#box.scrollTop;
  }

  #showJump(): void {
    if (this.#distance() < NEAR) this.#unread = false;
    this.jump.hidden = this.#list.hidden || this.#distance() < NEAR * 2;
    this.jump.classList.toggle("jump--new", this.#unread);
    setText(this.#label, this.#unread ? t("new_text") : t("to_end"));
  }
}
