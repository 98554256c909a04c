// A page over the conversation: the list of conversations, the settings.

import { Problem } from "../net/http.ts";
import { t } from "../words/words.ts";
import { tool } from "./buttons.ts";
import { el, focused, setText } from "./dom.ts";

export class Pane {
  readonly element: HTMLElement;
  readonly content = el("div", { class: "pane__content" });
  #problem = el("p", { class: "pane__problem", role: "alert" });
  #heading: HTMLElement;
  #opener: Element | null = null;
  #onClosed: () => void;

  constructor({ name, title, onClosed }: { name: string; title: string; onClosed: () => void }) {
    this.#onClosed = onClosed;
    this.#heading = el("h3", { class: "pane__title", id: `pane-${name}`, tabindex: "-1" }, title);
    const back = tool("back", t("back"), { test: "back", press: () => this.close() });
    this.element = el(
      "section",
      { class: "pane", "aria-labelledby": `pane-${name}`, "data-test": `pane-${name}`, hidden: true },
      el("div", { class: "pane__bar" }, back, this.#heading),
      this.#problem,
      this.content,
    );
  }

  get isBeside(): boolean {
    return this.element.classList.contains("pane--beside");
  }

  /** It stands beside the chat as long as there is room, and is not opened or closed. */
  standBeside(beside: boolean): void {
    if (beside === this.isBeside) return;
    if (beside) this.close({ restoreFocus: false });
    this.element.classList.toggle("pane--beside", beside);
    this.element.hidden = !beside;
  }

  get isOpen(): boolean {
    return !this.element.hidden;
  }

  open(): void {
    this.#opener = focused();
    setText(this.#problem, "");
    this.element.hidden = false;
    this.#heading.focus({ preventScroll: true });
  }

  /** The focus goes back to what opened it, or stays where the caller puts it. */
  close({ restoreFocus = true } = {}): void {
    if (!this.isOpen || this.isBeside) return;
    this.element.hidden = true;
    this.#onClosed();
    if (restoreFocus && this.#opener instanceof HTMLElement) this.#opener.focus({ preventScroll: true });
  }

  /** What `action` gives; null where the service refuses, which is then said. */
  async attempt<T>(action: () => Promise<T>, otherwise = t("error_generic")): Promise<T | null> {
    setText(this.#problem, "");
    try {
      return await action();
    } catch (error) {
      if (!(error instanceof Problem || error instanceof TypeError)) throw error;
      setText(this.#problem, (error instanceof Problem && error.detail) || otherwise);
      return null;
    }
  }
}
