// The visitor's language, and their data: have it, erase it.

import type { AssistantInfo } from "../protocol.ts";
import { webAddress } from "../text/links.ts";
import { LANGUAGES, language, spokenBy, t, type Language } from "../words/words.ts";
import { button } from "./buttons.ts";
import { confirm } from "./confirm.ts";
import { el } from "./dom.ts";
import { outward } from "./outward.ts";
import { Pane } from "./pane.ts";

export interface SettingsActions {
  choose(language: Language): void;
  print(): void;
  /** All raise Problem. */
  keep(conversation: string): Promise<void>;
  download(): Promise<void>;
  erase(): Promise<void>;
}

export class SettingsPane {
  readonly pane: Pane;
  #actions: SettingsActions;
  #info: AssistantInfo;

  constructor(info: AssistantInfo, actions: SettingsActions, onClosed: () => void) {
    this.#info = info;
    this.#actions = actions;
    this.pane = new Pane({ name: "settings", title: t("settings"), onClosed });
  }

  /** `agreed`: there can be data; `conversation` is one in which something was said. */
  open({ agreed, conversation }: { agreed: boolean; conversation: string | null }): void {
    const privacy = webAddress(this.#info.privacy_url);
    const languages = spokenBy(this.#info.assistant.languages);
    this.pane.content.replaceChildren(
      ...(conversation ? [this.#conversation(conversation)] : []),
      ...(languages.length > 1 ? [this.#languages(languages)] : []),
      ...(agreed ? [this.#data()] : []),
      ...(privacy ? [el("p", {}, outward(privacy, t("privacy"), "privacy-link"))] : []),
    );
    this.pane.open();
  }

  #languages(languages: readonly Language[]): HTMLElement {
    const choices = languages.map((code) => {
      const on = { change: () => this.#actions.choose(code) };
      const radio = el("input", {
        type: "radio",
        name: "language",
        value: code,
        checked: code === language(),
        "data-test": `language-${code}`,
        on,
      });
      return el("label", { class: "check" }, radio, el("span", { lang: code }, LANGUAGES[code]));
    });
    return el("fieldset", { class: "setting", "data-test": "language" }, el("legend", {}, t("language")), ...choices);
  }

  #conversation(id: string): HTMLElement {
    const print = button("quiet", t("print"), {
      test: "print",
      press: () => {
        this.pane.close();
        this.#actions.print();
      },
    });
    const keep = button("quiet", t("keep"), {
      test: "keep",
      press: () => void this.pane.attempt(() => this.#actions.keep(id)),
    });
    return el(
      "section",
      { class: "setting" },
      el("h4", { class: "setting__title" }, t("this_conversation")),
      el("div", { class: "row" }, print, keep),
    );
  }

  #data(): HTMLElement {
    const erasing = el("div", { class: "row" });
    const ask = () =>
      confirm({
        question: t("erase_question"),
        yes: t("erase_yes"),
        instead: erasing,
        act: () => this.pane.attempt(() => this.#actions.erase()),
      });
    erasing.append(button("danger", t("erase"), { test: "erase", press: ask, more: { "data-confirms": "" } }));
    const download = button("quiet", t("download"), {
      test: "download",
      press: () => void this.pane.attempt(() => this.#actions.download()),
    });
    return el(
      "section",
      { class: "setting", "data-test": "my-data" },
      el("h4", { class: "setting__title" }, t("my_data")),
      el("p", { class: "soft" }, t("my_data_text")),
      el("div", { class: "row" }, download),
      erasing,
    );
  }
}
