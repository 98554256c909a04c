// A text field with its formatted view. The field stays what the form sends: it is written only after an edit.

import { history } from "prosemirror-history";
import { type Command, EditorState, type Transaction } from "prosemirror-state";
import { tableEditing } from "prosemirror-tables";
import { EditorView } from "prosemirror-view";
import { keys } from "./keys.ts";
import { type Obstacle, open } from "./markdown/obstacles.ts";
import type { Source } from "./markdown/source.ts";
import { foreignParser, hideStyles } from "./paste.ts";
import { regularTables } from "./tables.ts";
import { make } from "./view/dom.ts";
import { LinkDialog } from "./view/link_dialog.ts";
import { Toolbar, linkAction } from "./view/toolbar.ts";
import { type Words, readWords } from "./words.ts";

export type Mode = "formatted" | "markdown";

const MARKS_OF_FIELD = ["aria-describedby", "aria-invalid", "lang", "dir"];

export class Editor {
  readonly #words: Words;
  readonly #frame = make("div", { class: "editor" });
  readonly #surface = make("div", { class: "editor-surface" });
  readonly #note = make("p", { class: "editor-note", role: "status" });
  readonly #buttons: Readonly<Record<Mode, HTMLButtonElement>>;
  readonly #toolbar: Toolbar;
  readonly #link: LinkDialog;
  readonly #showLink: Command;
  readonly #label: HTMLLabelElement | null;
  #view: EditorView | null = null;
  #source: Source | null = null;
  /** What the field held when the formatted text was last equal to it. */
  #known = "";

  constructor(
    private readonly field: HTMLTextAreaElement,
    mode: Mode,
    private readonly onChoice: (mode: Mode) => void,
  ) {
    this.#words = readWords(field.dataset.editor ?? "{}");
    this.#surface.id = `${field.id}_editor`;
    this.#link = new LinkDialog(this.#words);
    this.#showLink = (state, _dispatch, view) => {
      if (!view || !link.isPossible(state)) return false;
      this.#link.show(view);
      return true;
    };
    const link = linkAction(this.#showLink);
    this.#toolbar = new Toolbar(this.#words, () => this.#view, this.#surface.id, link);
    this.#buttons = { formatted: this.#makeSwitch("formatted"), markdown: this.#makeSwitch("markdown") };
    this.#label = field.labels[0] ?? null;
    if (this.#label && !this.#label.id) this.#label.id = `${field.id}_label`;
    this.#label?.addEventListener("click", () => this.#view?.focus());
    const modes = make(
      "div",
      { class: "editor-group editor-modes", role: "group", "aria-label": this.#words.mode },
      this.#buttons.formatted,
      this.#buttons.markdown,
    );
    field.before(this.#frame);
    this.#frame.append(
      make("div", { class: "editor-bar" }, this.#toolbar.element, modes),
      this.#note,
      this.#surface,
      field,
      make("p", { id: `${field.id}_keys`, class: "editor-keys" }, this.#words.keys),
    );
    document.body.append(this.#link.element);
    this.#turn(mode);
    // A browser that brings back what was typed does so after the page was read.
    window.addEventListener("pageshow", () => this.#follow());
  }

  #makeSwitch(mode: Mode): HTMLButtonElement {
    const button = make("button", { type: "button", "data-mode": mode }, this.#words[mode]);
    button.addEventListener("click", () => {
      this.#turn(mode);
      if (mode === "markdown" || this.#view) this.onChoice(mode);
    });
    return button;
  }

  #turn(mode: Mode): void {
    this.#view?.destroy();
    this.#view = null;
    const opened = mode === "formatted" ? open(this.field.value) : null;
    this.#note.textContent = typeof opened === "string" ? this.#explain(opened) : "";
    if (opened && typeof opened !== "string") this.#show(opened);
    const isFormatted = this.#view !== null;
    this.field.hidden = isFormatted;
    this.#surface.hidden = this.#toolbar.element.hidden = !isFormatted;
    this.#frame.classList.toggle("editor--markdown", !isFormatted);
    this.#buttons.formatted.setAttribute("aria-pressed", String(isFormatted));
    this.#buttons.markdown.setAttribute("aria-pressed", String(!isFormatted));
  }

  #explain(obstacle: Obstacle): string {
    return this.#words[obstacle === "table" ? "irregular_table" : obstacle];
  }

  #show(source: Source): void {
    this.#source = source;
    this.#known = this.field.value;
    const breaks = "breaks" in this.field.dataset;
    const focusToolbar: Command = () => {
      this.#toolbar.focus();
      return true;
    };
    const plugins = [...keys(breaks, this.#showLink, focusToolbar), history(), tableEditing(), regularTables];
    this.#view = new EditorView(this.#surface, {
      state: EditorState.create({ doc: source.doc, plugins }),
      attributes: this.#describe(breaks),
      clipboardParser: foreignParser,
      transformPastedHTML: hideStyles,
      dispatchTransaction: (transaction) => this.#apply(transaction),
      handleDOMEvents: {
        focus: () => {
          this.#follow();
          return false;
        },
      },
    });
    this.#toolbar.update(this.#view);
  }

  #describe(breaks: boolean): Record<string, string> {
    const described = [this.field.getAttribute("aria-describedby"), `${this.field.id}_keys`];
    const copied = MARKS_OF_FIELD.filter((name) => this.field.hasAttribute(name));
    return {
      ...Object.fromEntries(copied.map((name) => [name, this.field.getAttribute(name) ?? ""])),
      "aria-describedby": described.filter(Boolean).join(" "),
      class: `editor-text${breaks ? " editor-text--breaks" : ""}`,
      role: "textbox",
      "aria-multiline": "true",
      ...(this.#label ? { "aria-labelledby": this.#label.id } : {}),
    };
  }

  #apply(transaction: Transaction): void {
    const view = this.#view;
    if (!view || !this.#source) return;
    view.updateState(view.state.apply(transaction));
    if (transaction.docChanged) {
      this.#known = this.field.value = this.#source.write(view.state.doc);
      this.field.dispatchEvent(new Event("input", { bubbles: true }));
    }
    this.#toolbar.update(view);
  }

  /** Read the field anew if something else has written it. */
  #follow(): void {
    if (this.#view && this.field.value !== this.#known) this.#turn("formatted");
  }
}
