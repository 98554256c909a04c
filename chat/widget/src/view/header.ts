// Who answers, and what can be opened.

import type { AssistantInfo } from "../protocol.ts";
import { t } from "../words/words.ts";
import { named, tool } from "./buttons.ts";
import { el } from "./dom.ts";
import { icon } from "./icons.ts";

export interface HeaderActions {
  begin(): void;
  conversations(): void;
  settings(): void;
  close: (() => void) | null;
}

export function chatHeader({ assistant, theme }: AssistantInfo, actions: HeaderActions) {
  const begin = tool("new", t("new_conversation"), {
    test: "new-conversation",
    press: actions.begin,
    more: { hidden: true },
  });
  const list = tool("list", t("conversations"), {
    test: "show-conversations",
    press: actions.conversations,
    more: { hidden: true },
  });
  const settings = tool("settings", t("settings"), { test: "settings", press: actions.settings });
  [begin, list, settings].forEach(named);
  const close = actions.close && tool("close", t("close_chat"), { test: "close", press: actions.close });
  const logo = theme.logo
    ? el("img", { class: "header__logo", src: theme.logo, alt: "", width: 36, height: 36 })
    : el("span", { class: "header__mark", "aria-hidden": "true" }, icon("chat"));
  const titles = el(
    "div",
    { class: "header__titles" },
    el("h2", { class: "header__name", id: "name", "data-test": "name" }, assistant.name || t("assistant")),
    assistant.institution && el("p", { class: "header__institution" }, assistant.institution),
  );
  return {
    element: el(
      "header",
      { class: "header" },
      logo,
      titles,
      el("div", { class: "header__actions" }, begin, list, settings, close),
    ),
    /** The visitor agreed: there are conversations. */
    open() {
      begin.hidden = list.hidden = false;
    },
    canBegin(can: boolean) {
      begin.disabled = !can;
    },
  };
}
