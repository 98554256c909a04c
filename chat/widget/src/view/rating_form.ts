// After some answers: how helpful the conversation is, from 1 to 5.

import { t } from "../words/words.ts";
import { el, fill } from "./dom.ts";
import { tool } from "./buttons.ts";

const STARS = [1, 2, 3, 4, 5] as const;
export type Stars = (typeof STARS)[number];

export class RatingForm {
  readonly element = el("section", { class: "rating", "data-test": "rating", hidden: true });
  #actions: { rate(stars: Stars): void; decline(): void };

  constructor(actions: { rate(stars: Stars): void; decline(): void }) {
    this.#actions = actions;
  }

  /** `thanks`: the stars that were just given, or null. */
  draw({ wanted, thanks }: { wanted: boolean; thanks: number | null }): void {
    this.element.hidden = !wanted && thanks === null;
    fill(this.element, [wanted, thanks], () => {
      if (thanks !== null) return [el("p", { "data-test": "rating-thanks" }, t("rating_thanks", { stars: thanks }))];
      return wanted ? this.#question() : [];
    });
  }

  #question(): HTMLElement[] {
    const stars = STARS.map((star) =>
      tool("star", t("rating_star", { count: star }), {
        test: `star-${star}`,
        press: () => this.#actions.rate(star),
        more: { class: "tool star" },
      }),
    );
    const scale = el(
      "div",
      { class: "rating__stars", role: "group", "aria-label": t("rating_title") },
      ...stars,
    );
    const decline = tool("close", t("rating_later"), { test: "no-rating", press: () => this.#actions.decline() });
    return [el("p", {}, t("rating_title")), scale, decline];
  }
}
