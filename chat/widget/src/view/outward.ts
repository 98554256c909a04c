// Links that leave. Their addresses come from the service's documents and settings, or from an office's words, never
// from a model's text.

import { mailAddress, webAddress } from "../text/links.ts";
import type { Contact } from "../protocol.ts";
import { language, t } from "../words/words.ts";
import { el, type Child } from "./dom.ts";
import { icon } from "./icons.ts";

/** A link that leaves for a new tab, and says so. */
export function outward(address: string, text: Child, test = "source-link"): HTMLElement {
  return el(
    "a",
    { href: address, target: "_blank", rel: "noopener noreferrer", class: "outward", "data-test": test },
    text,
    icon("out"),
    // Within an office's words in another language too.
    el("span", { class: "visually-hidden", lang: language() }, ` ${t("opens_new_tab")}`),
  );
}

/** The ways to reach people: a page, an address. */
export function contactLinks({ name, url, email }: Contact): Child[] {
  const address = webAddress(url);
  const mail = mailAddress(email);
  const title = name || t("contact_fallback");
  return [
    el("p", {}, address ? outward(address, title, "contact-link") : title),
    mail && el("p", {}, el("a", { href: mail, "data-test": "contact-mail" }, email)),
  ];
}
