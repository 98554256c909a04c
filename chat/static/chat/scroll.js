// Follows a growing answer while the reader is at its end, and never takes the page out of a reader's hands. When an
// answer is complete its sources are not scrolled to if that would push the question out of sight.

import { onceAFrame } from "./dom.js";

const NEAR = 96;

export class Follower {
  #following = true;
  #top = 0;
  #jump;

  /** `jump` is the button that leads back to the end. */
  constructor(jump) {
    this.#jump = jump;
    // The messages come after the page, so the browser cannot know where one was.
    history.scrollRestoration = "manual";
    jump.addEventListener("click", () => this.toEnd());
    const look = onceAFrame(() => this.#showJump());
    window.addEventListener("scroll", () => {
      // Only a movement upwards is the reader's wish to stay; at the very end it is a page that became shorter.
      const upwards = window.scrollY < this.#top;
      if (this.#distance() <= (upwards ? 4 : NEAR)) this.#following = true;
      else if (upwards) this.#following = false;
      this.#top = window.scrollY;
      look();
    });
    window.addEventListener("resize", look);
    // The wish is known before the page has moved: a first small step must not be taken back by the next word.
    const stay = () => {
      if (window.scrollY > 0) this.#following = false;
    };
    window.addEventListener("wheel", (event) => event.deltaY < 0 && stay(), { passive: true });
    window.addEventListener("touchmove", stay, { passive: true });
    window.addEventListener("keydown", (event) => {
      if (["ArrowUp", "PageUp", "Home"].includes(event.key) && event.target.tagName !== "TEXTAREA") stay();
    });
  }

  /** To the end now, and on from there. */
  toEnd() {
    this.#following = true;
    this.#scrollTo(this.#end());
  }

  /** The page grew. `keep` is an element whose beginning must stay in sight, or null. */
  grew(keep = null) {
    if (this.#following) {
      const limit = keep ? this.#beginningOf(keep) : Infinity;
      this.#scrollTo(Math.max(window.scrollY, Math.min(this.#end(), limit)));
    }
    this.#showJump();
  }

  #beginningOf(element) {
    const header = document.querySelector(".page-header");
    const covered = header && getComputedStyle(header).position === "sticky" ? header.offsetHeight : 0;
    return window.scrollY + element.getBoundingClientRect().top - covered - 12;
  }

  #end() {
    return document.documentElement.scrollHeight - window.innerHeight;
  }

  #distance() {
    return this.#end() - window.scrollY;
  }

  #scrollTo(top) {
    if (Math.abs(top - window.scrollY) < 1) return;
    window.scrollTo({ top, behavior: "instant" });
    this.#top = window.scrollY;
  }

  #showJump() {
    this.#jump.hidden = this.#distance() < NEAR * 2;
  }
}
