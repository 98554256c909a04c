// The answer of an office, word for word, in a look of its own: what it answers, the words, who signs them.

import type { OfficeWords, Source } from "../protocol.ts";
import { webAddress } from "../text/links.ts";
import { plain } from "../text/plain.ts";
import type { Block } from "../text/quoted.ts";
import { t } from "../words/words.ts";
import { AnswerText } from "./answer_text.ts";
import { el } from "./dom.ts";
import { icon } from "./icons.ts";
import { outward } from "./outward.ts";

export function officeAnswer(office: OfficeWords, sources: readonly Source[]): HTMLElement {
  // A number in brackets is the office's own and names no source.
  const none = () => {};
  const words = new AnswerText({ light: none, show: none });
  words.draw({ text: office.text, sources: [] }, false, true);
  const page = webAddress(sources.find(({ n }) => n === office.n)?.url);
  return el(
    "section",
    { class: "office", "data-test": "office" },
    office.note && el("p", { class: "source__place" }, office.note),
    el(
      "div",
      { lang: office.language },
      el("h4", { class: "office__signature" }, icon("check"), office.signature),
      el("p", { class: "source__place" }, office.question),
      words.element,
    ),
    page && el("p", {}, outward(page, t("office_page"))),
  );
}

/** What is read aloud and copied. */
export function spokenOffice({ note, signature, question, text, language }: OfficeWords): Block[] {
  const words = [signature, question, plain(text), ""].join("\n\n");
  return [[note ? `${note}\n\n` : "", ""], [words, language]];
}
