// The pages an answer rests on, as cards below it; and the small numbers in its text that lead to them.

import { el, icon } from "./dom.js";
import { hostOf, webAddress } from "./links.js";
import { t } from "./strings.js";

export function cardId(messageId, n) {
  return `source-${messageId}-${n}`;
}

/** The number in the text. A link, because it leads to a place on this page. */
export function citationLink(messageId, source) {
  const id = cardId(messageId, source.n);
  const link = el("a", {
    href: `#${id}`,
    class: "citation",
    "data-test": "citation",
    "aria-label": t("citation_label", { n: source.n, title: source.title || t("source_untitled") }),
    on: {
      click: (event) => {
        event.preventDefault();
        showCard(id);
      },
    },
  });
  link.append(String(source.n));
  return el("sup", {}, link);
}

function showCard(id) {
  const card = document.getElementById(id);
  if (!card) return;
  card.scrollIntoView({ block: "nearest" });
  card.focus({ preventScroll: true });
  card.classList.remove("source--shown");
  requestAnimationFrame(() => card.classList.add("source--shown"));
}

export function sourceList(messageId, sources) {
  const headingId = `sources-${messageId}`;
  return el(
    "section",
    { class: "sources", "aria-labelledby": headingId, "data-test": "sources" },
    el("h3", { id: headingId, class: "sources__title" }, t("sources_title")),
    el("ol", { class: "sources__list" }, ...sources.map((source) => sourceCard(messageId, source))),
  );
}

function sourceCard(messageId, source) {
  const address = webAddress(source.url);
  const title = source.title || (address ? hostOf(address) : t("source_untitled"));
  const page = source.page ? t("source_page", { page: source.page }) : "";
  const place = [source.heading, page].filter(Boolean).join(" · ");
  return el(
    "li",
    { class: "source", id: cardId(messageId, source.n), tabindex: "-1", "data-test": "source", "data-n": source.n },
    el("span", { class: "source__number", "aria-hidden": "true" }, String(source.n)),
    el(
      "div",
      { class: "source__body" },
      el("p", { class: "source__title" }, address ? outward(address, title) : title),
      place ? el("p", { class: "source__place" }, place) : null,
      source.quote ? el("blockquote", { class: "source__quote", "data-test": "source-quote" }, source.quote) : null,
      address ? el("p", { class: "source__host" }, hostOf(address)) : null,
      ...(source.links ?? []).map((link) => linkTo(link)),
    ),
  );
}

function linkTo({ label, url }) {
  const address = webAddress(url);
  return address ? el("p", { class: "source__link", "data-test": "reference" }, outward(address, label)) : "";
}

/** A link that leaves for a new tab, and says so. */
export function outward(address, text) {
  return el(
    "a",
    { href: address, target: "_blank", rel: "noopener", class: "outward", "data-test": "source-link" },
    text,
    icon("out"),
    el("span", { class: "visually-hidden" }, ` ${t("opens_new_tab")}`),
  );
}
