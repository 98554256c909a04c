// The passages an answer rests on, as cards below it.

import type { Source } from "../protocol.ts";
import { hostOf, webAddress } from "../text/links.ts";
import { t } from "../words/words.ts";
import { el } from "./dom.ts";
import { outward } from "./outward.ts";

export class SourceCards {
  readonly element: HTMLElement;
  #cards = new Map<number, HTMLElement>();

  constructor(messageId: number, sources: readonly Source[]) {
    const headingId = `sources-${messageId}`;
    for (const source of sources) this.#cards.set(source.n, card(source));
    this.element = el(
      "section",
      { class: "sources", "aria-labelledby": headingId, "data-test": "sources" },
      el("h4", { id: headingId, class: "sources__title" }, t("sources_title")),
      el("ol", { class: "sources__list" }, ...this.#cards.values()),
    );
  }

  light(n: number, on: boolean): void {
    this.#cards.get(n)?.classList.toggle("source--lit", on);
  }

  show(n: number): void {
    const card = this.#cards.get(n);
    if (!card) return;
    card.scrollIntoView({ block: "nearest" });
    card.focus({ preventScroll: true });
  }
}

function card(source: Source): HTMLElement {
  const address = webAddress(source.url);
  const title = source.title || (address ? hostOf(address) : t("source_untitled"));
  const page = source.page ? t("source_page", { page: source.page }) : "";
  const place = [source.heading, page].filter(Boolean).join(" · ");
  return el(
    "li",
    { class: "source", tabindex: "-1", dir: "auto", "data-test": "source", "data-source": source.n },
    el("span", { class: "source__number", "aria-hidden": "true" }, String(source.n)),
    el(
      "div",
      { class: "source__body" },
      el("p", { class: "source__title" }, address ? outward(address, title) : title),
      place && el("p", { class: "source__place" }, place),
      source.quote && el("blockquote", { class: "source__quote", lang: source.language, "data-test": "source-quote" }, source.quote),
      links(source),
      address && el("p", { class: "source__host" }, hostOf(address)),
    ),
  );
}

function links({ links = [] }: Source): HTMLElement | null {
  const items = links.flatMap(({ label, url }) => {
    const address = webAddress(url);
    return address ? [el("li", {}, outward(address, label || hostOf(address), "document-link"))] : [];
  });
  return items.length
    ? el("div", { class: "source__links" }, el("p", {}, t("source_links")), el("ul", {}, ...items))
    : null;
}
