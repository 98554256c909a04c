// The dialog of a link: its text, and an address that is checked.

import type { Mark } from "prosemirror-model";
import { type EditorState, TextSelection } from "prosemirror-state";
import type { EditorView } from "prosemirror-view";
import { checkAddress } from "../links.ts";
import { schema } from "../schema.ts";
import type { Words } from "../words.ts";
import { make } from "./dom.ts";

const { link } = schema.marks;
let number = 0;

/** Return where the link at the selection begins and ends, and the link; else the selection itself. */
export function findLink({ doc, selection: { from, to, $from } }: EditorState): { from: number; to: number; mark?: Mark } {
  const marks = from === to ? $from.marks() : (doc.nodeAt(from)?.marks ?? []);
  const mark = link.isInSet(marks);
  if (!mark) return { from, to };
  let begin = $from.start();
  let end = begin;
  let isPast = false;
  $from.parent.forEach((node, offset) => {
    const at = $from.start() + offset;
    if (isPast) return;
    if (!mark.isInSet(node.marks)) {
      if (at >= from && end >= from) isPast = true;
      else begin = end = at + node.nodeSize;
    } else end = at + node.nodeSize;
  });
  return { from: begin, to: end, mark };
}

export class LinkDialog {
  readonly element: HTMLDialogElement;
  readonly #text: HTMLInputElement;
  readonly #address: HTMLInputElement;
  readonly #error: HTMLElement;
  readonly #remove: HTMLButtonElement;
  #view: EditorView | null = null;
  #range: { from: number; to: number; mark?: Mark } = { from: 0, to: 0 };

  constructor(private readonly words: Words) {
    const id = `editor-link-${++number}`;
    this.#text = make("input", { id: `${id}-text`, type: "text", autocomplete: "off" });
    this.#address = make("input", {
      id: `${id}-address`,
      type: "url",
      autocomplete: "off",
      required: "",
      "aria-describedby": `${id}-error`,
    });
    this.#error = make("p", { id: `${id}-error`, class: "editor-error", role: "alert" });
    this.#remove = make("button", { type: "button" }, words.link_remove);
    const cancel = make("button", { type: "button" }, words.cancel);
    const form = make(
      "form",
      { method: "dialog", novalidate: "" },
      make("h2", { id: `${id}-title` }, words.link_title),
      make("label", { for: this.#text.id }, words.link_text),
      this.#text,
      make("label", { for: this.#address.id }, words.link_address),
      this.#address,
      this.#error,
      make(
        "div",
        { class: "editor-group" },
        make("button", { type: "submit", class: "button default" }, words.link_apply),
        this.#remove,
        cancel,
      ),
    );
    this.element = make("dialog", { class: "editor-dialog", "aria-labelledby": `${id}-title` }, form);
    cancel.addEventListener("click", () => this.element.close());
    this.#remove.addEventListener("click", () => this.#change(null));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#apply();
    });
    this.element.addEventListener("close", () => this.#view?.focus());
  }

  show(view: EditorView): void {
    this.#view = view;
    this.#range = findLink(view.state);
    const { from, to, mark } = this.#range;
    this.#text.value = view.state.doc.textBetween(from, to, " ");
    this.#address.value = mark?.attrs.href ?? "";
    this.#remove.hidden = !mark;
    this.#say("");
    this.element.showModal();
    (this.#text.value ? this.#address : this.#text).focus();
  }

  #say(error: string): void {
    this.#error.textContent = error;
    this.#address.setAttribute("aria-invalid", String(Boolean(error)));
  }

  #apply(): void {
    const href = checkAddress(this.#address.value);
    if (!href) {
      this.#say(this.words.link_wrong);
      this.#address.focus();
      return;
    }
    this.#change(href);
  }

  #change(href: string | null): void {
    const view = this.#view;
    if (!view) return;
    const { from, to } = this.#range;
    const tr = view.state.tr;
    const text = this.#text.value.trim() || href || "";
    const isSame = text === view.state.doc.textBetween(from, to, " ");
    if (href === null) tr.removeMark(from, to, link);
    else if (isSame) tr.removeMark(from, to, link).addMark(from, to, link.create({ href }));
    else {
      const marks = link.removeFromSet(view.state.doc.resolve(from).marks());
      tr.replaceWith(from, to, schema.text(text, [...marks, link.create({ href })]));
      tr.setSelection(TextSelection.create(tr.doc, from + text.length));
    }
    view.dispatch(tr.scrollIntoView());
    this.element.close();
  }
}
