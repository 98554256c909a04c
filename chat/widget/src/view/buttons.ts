// The kinds of buttons there are.

import { el, type Attributes } from "./dom.ts";
import { icon, type Icon } from "./icons.ts";

interface Options {
  test: string;
  press: () => void;
  more?: Attributes;
}

/** A drawing with a name that is read out and shown as a tooltip. */
export function tool(drawing: Icon, label: string, { test, press, more = {} }: Options): HTMLButtonElement {
  const attributes = { type: "button", class: "tool", "aria-label": label, title: label, "data-test": test, ...more };
  return el("button", { ...attributes, on: { click: press } }, icon(drawing));
}

/** Its name stands beside the drawing where there is room. */
export function named<T extends HTMLElement>(tool: T): T {
  tool.classList.add("tool--named");
  tool.append(el("span", { class: "tool__name" }, tool.title));
  return tool;
}

export function button(
  kind: "main" | "quiet" | "danger" | "plain",
  label: string,
  { test, press, more = {} }: Options,
): HTMLButtonElement {
  const attributes = { type: "button", class: `button button--${kind}`, "data-test": test, ...more };
  return el("button", { ...attributes, on: { click: press } }, label);
}

/** A whole sentence to press: a suggestion, a related question, a choice. */
export function sentence(text: string, { test, press, more = {} }: Options): HTMLButtonElement {
  return el(
    "button",
    { type: "button", class: "suggestion", dir: "auto", "data-test": test, ...more, on: { click: press } },
    text,
  );
}
