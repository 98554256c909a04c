// What stands where nothing was said yet.

import type { AssistantInfo } from "../protocol.ts";
import { language, t } from "../words/words.ts";
import { sentence } from "./buttons.ts";
import { el } from "./dom.ts";

export class Welcome {
  readonly element: HTMLElement;
  #suggestions: HTMLElement | null = null;

  constructor(info: AssistantInfo, ask: (text: string) => void) {
    const spoken = language();
    const suggestions = info.suggestions[spoken];
    if (suggestions.length) {
      const items = suggestions.map((text) =>
        el("li", {}, sentence(text, { test: "suggestion", press: () => ask(text), more: { "data-question": text } })),
      );
      this.#suggestions = el(
        "div",
        { class: "suggestions", "data-test": "suggestions", hidden: true },
        el("h4", { class: "group__title" }, t("suggestions_title")),
        el("ul", { class: "group__list" }, ...items),
      );
    }
    this.element = el(
      "section",
      { class: "welcome", "data-test": "welcome", "aria-labelledby": "welcome-title" },
      el("h3", { id: "welcome-title", class: "welcome__title" }, info.theme.greeting[spoken] || t("welcome_title")),
      el("p", { class: "welcome__text" }, info.welcome[spoken] || t("welcome_text")),
      this.#suggestions,
    );
  }

  /** Suggestions can be asked only once the visitor agreed. */
  open(): void {
    if (this.#suggestions) this.#suggestions.hidden = false;
  }
}
