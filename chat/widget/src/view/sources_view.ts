// The pages an answer rests on: a numbered chip for each, which opens in place to the passages that are cited of it.

import type { Source } from "../protocol.ts";
import { hostOf, webAddress } from "../text/links.ts";
import { stands } from "../text/quoted.ts";
import { ageOf } from "../text/times.ts";
import { language, t } from "../words/words.ts";
import { el, setAttribute, type Child } from "./dom.ts";
import { icon } from "./icons.ts";
import { outward } from "./outward.ts";

interface Said {
  text: string;
  /** The text is quotes of the pages. */
  quotes: boolean;
}

export class SourceChips {
  readonly element: HTMLElement;
  #pages = new Map<number, Page>();

  constructor(messageId: number, sources: readonly Source[], said: Said) {
    const headingId = `sources-${messageId}`;
    const pages = [...grouped(sources).values()].map((group, index) => {
      const page = new Page(`source-${messageId}-${index}`, group, said, () => {
        const isOpen = !page.isOpen;
        for (const other of pages) other.open(other === page && isOpen);
        if (isOpen) page.panel.scrollIntoView({ block: "nearest" });
      });
      for (const { n } of group) this.#pages.set(n, page);
      return page;
    });
    this.element = el(
      "section",
      { class: "sources", "aria-labelledby": headingId, "data-test": "sources" },
      el("h4", { id: headingId, class: "sources__title" }, t("sources_title")),
      el("ul", { class: "sources__list" }, ...pages.map(({ element }) => element)),
    );
  }

  light(n: number, on: boolean): void {
    this.#pages.get(n)?.element.classList.toggle("source--lit", on);
  }

  /** Opens the page to the passage `n`, which gets the focus. */
  show(n: number): void {
    for (const page of this.#pages.values()) page.open(page === this.#pages.get(n));
    const passage = this.#pages.get(n)?.passage(n);
    passage?.scrollIntoView({ block: "nearest" });
    passage?.focus({ preventScroll: true });
  }
}

class Page {
  readonly element: HTMLElement;
  #chip: HTMLButtonElement;
  readonly panel: HTMLElement;

  constructor(id: string, sources: readonly Source[], said: Said, press: () => void) {
    const [first] = sources as readonly [Source, ...Source[]];
    const alone = sources.length === 1;
    const address = webAddress(first.url);
    const title = first.title || (address ? hostOf(address) : t("source_untitled"));
    const page = alone && first.page ? t("source_page", { page: first.page }) : "";
    const age = ageOf(first.checked_on ?? "", language());
    const named = { lang: first.language || null, dir: "auto" };
    this.#chip = el(
      "button",
      { type: "button", class: "chip", "aria-expanded": "false", "aria-controls": id, "data-test": "source-chip", on: { click: press } },
      ...sources.map(({ n }) => el("span", { class: "source__number" }, String(n))),
      el(
        "span",
        { class: "chip__text" },
        el("span", { class: "chip__title", ...named }, title),
        first.edition && el("span", { class: "chip__page" }, first.edition),
        page && el("span", { class: "chip__page" }, page),
        sources.some((source) => source.read_by_ocr) && el("span", { class: "chip__page" }, t("source_ocr")),
        age?.isOld && el("span", { class: "source__old", title: t("source_old") }, icon("warning"), el("span", { class: "visually-hidden" }, t("source_old"))),
      ),
    );
    this.panel = el(
      "div",
      { id, class: "source__page", hidden: true },
      !alone && el("p", { class: "source__title", ...named }, title),
      ...sources.map((source) => passage(source, alone ? title : "", said)),
      el("p", { class: "source__facts" }, address && el("span", {}, hostOf(address)), ...checked(age)),
    );
    const test = { "data-test": "source", "data-source": sources.map(({ n }) => n).join(" ") };
    this.element = el("li", { class: "source", ...test }, this.#chip, this.panel);
  }

  get isOpen(): boolean {
    return !this.panel.hidden;
  }

  open(open: boolean): void {
    this.panel.hidden = !open;
    setAttribute(this.#chip, "aria-expanded", String(open));
  }

  passage(n: number): HTMLElement | null {
    return this.panel.querySelector(`[data-passage="${n}"]`);
  }
}

/** The address without the place on the page. */
function pageOf({ url, title }: Source): string {
  return url.replace(/#.*/, "") || title;
}

function grouped(sources: readonly Source[]): Map<string, Source[]> {
  const groups = new Map<string, Source[]>();
  for (const source of sources) groups.set(pageOf(source), [...(groups.get(pageOf(source)) ?? []), source]);
  return groups;
}

/** `title` is empty where it stands above the passages of the page. A quote that the answer shows is not repeated. */
function passage(source: Source, title: string, said: Said): HTMLElement {
  const { n, url, heading, quote, language: spoken } = source;
  const address = webAddress(url);
  const place = [source.edition, heading, source.page ? t("source_page", { page: source.page }) : ""].filter(Boolean).join(" · ");
  const linked = title || place || t("source_passage");
  const named = el("span", { lang: spoken || null, dir: "auto" }, linked);
  const isNew = quote && !stands(quote, said.text, said.quotes);
  return el(
    "div",
    { class: "passage", tabindex: "-1", "data-test": "passage", "data-passage": n },
    !title && el("span", { class: "source__number", "aria-hidden": "true" }, String(n)),
    el(
      "div",
      { class: "source__body" },
      el("p", { class: "source__title" }, address ? outward(address, named) : named),
      title && place && el("p", { class: "source__place" }, place),
      source.read_by_ocr && el("p", { class: "source__place" }, t("source_ocr_hint")),
      isNew && el("blockquote", { class: "source__quote", lang: spoken, dir: "auto", "data-test": "source-quote" }, quote),
      links(source),
    ),
  );
}

/** When the page was read last; said louder if that is long ago. */
function checked(age: ReturnType<typeof ageOf>): Child[] {
  if (!age) return [];
  return [
    el("span", { "data-test": "source-checked" }, t("source_checked", { day: age.day })),
    age.isOld && el("span", { class: "source__old", "data-test": "source-old" }, icon("warning"), t("source_old")),
  ];
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
