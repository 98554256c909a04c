// What went wrong with a message, and the way to try again: not before the time the service asked for.

import type { Message } from "../state/message.ts";
import { t } from "../words/words.ts";
import { button } from "./buttons.ts";
import { el } from "./dom.ts";
import { icon } from "./icons.ts";

export class Retrial {
  #timer = 0;
  #retry: (message: Message) => void;

  constructor(retry: (message: Message) => void) {
    this.#retry = retry;
  }

  problem(text: string, message: Message): HTMLElement {
    const words = el("p", { class: "problem__text" }, icon("warning"), el("span", {}, text));
    return el("div", { class: "problem", "data-test": "message-error" }, words, this.#again(message));
  }

  #again(message: Message): HTMLElement | null {
    const wait = Math.max(0, message.retryAt - Date.now());
    if (wait === Infinity) return null;
    const again = button("quiet", t("try_again"), {
      test: "retry",
      press: () => this.#retry(message),
      more: { disabled: wait > 0 },
    });
    again.prepend(icon("again"));
    clearTimeout(this.#timer);
    if (wait > 0) {
      this.#timer = window.setTimeout(() => {
        again.disabled = false;
      }, wait);
    }
    return again;
  }
}
