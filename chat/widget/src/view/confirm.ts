// A question that must be answered before something is gone for good, in the place of the button that asked for it.

import { t } from "../words/words.ts";
import { button } from "./buttons.ts";
import { el } from "./dom.ts";

export interface Confirmation {
  question: string;
  yes: string;
  /** What asked; it stands there again when the visitor does not want it. */
  instead: HTMLElement;
  act: () => Promise<unknown>;
}

export function confirm({ question, yes, instead, act }: Confirmation): void {
  const back = () => {
    box.replaceWith(instead);
    instead.querySelector<HTMLElement>("[data-confirms]")?.focus();
  };
  const go = async () => {
    sure.disabled = cancel.disabled = true;
    await act();
    if (box.isConnected) back();
  };
  const sure = button("danger", yes, { test: "confirm", press: () => void go() });
  const cancel = button("quiet", t("cancel"), { test: "cancel", press: back });
  const escape = (event: KeyboardEvent) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    back();
  };
  const box = el(
    "div",
    { class: "confirm", role: "group", "aria-label": question, "data-test": "confirmation", on: { keydown: escape } },
    el("p", {}, question),
    el("div", { class: "row" }, sure, cancel),
  );
  instead.replaceWith(box);
  cancel.focus();
}
