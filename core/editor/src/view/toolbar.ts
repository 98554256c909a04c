// The buttons above a text: one stop of the tab key, between which the arrows move.

import { isInTable } from "prosemirror-tables";
import type { EditorView } from "prosemirror-view";
import { ACTIONS, type Action, type ActionName } from "../commands.ts";
import { schema } from "../schema.ts";
import type { Words } from "../words.ts";
import { draw, make } from "./dom.ts";

const PICTURES: Partial<Record<ActionName | "link", string>> = {
  bullet_list: "M8 5h9M8 10h9M8 15h9M3 5h1M3 10h1M3 15h1",
  ordered_list: "M9 5h8M9 10h8M9 15h8M3 3.5h1v4M3 7.5h2.5M3 11.5h2.5L3 16h2.5",
  indent: "M3 4h14M9 8h8M9 12h8M3 16h14M3 7.5l3 2.5-3 2.5",
  outdent: "M3 4h14M9 8h8M9 12h8M3 16h14M6 7.5l-3 2.5 3 2.5",
  quote: "M4 11h4v4H4zM4 11c0-3 1-5 3-6M11 11h4v4h-4zM11 11c0-3 1-5 3-6",
  code: "M7 5l-5 5 5 5M13 5l5 5-5 5",
  code_block: "M2 3h16v14H2zM8 7l-3 3 3 3M12 7l3 3-3 3",
  link: "M8 12l4-4M9 6l2-2a3.5 3.5 0 015 5l-2 2M11 14l-2 2a3.5 3.5 0 01-5-5l2-2",
  table: "M2 3h16v14H2zM2 8h16M2 12.500h16M10 3v14",
  undo: "M7 4L3 8l4 4M3 8h9a4 4 0 010 8H8",
  redo: "M13 4l4 4-4 4M17 8H8a4 4 0 000 8h4",
};
const LETTERS: Partial<Record<ActionName, string>> = {
  heading_1: "H1",
  heading_2: "H2",
  heading_3: "H3",
  heading_4: "H4",
  paragraph: "¶",
  bold: "B",
  italic: "I",
};
const KEYS: Partial<Record<ActionName | "link", string>> = {
  heading_1: "Control+Shift+1",
  heading_2: "Control+Shift+2",
  heading_3: "Control+Shift+3",
  heading_4: "Control+Shift+4",
  paragraph: "Control+Shift+0",
  bold: "Control+B",
  italic: "Control+I",
  code: "Control+E",
  bullet_list: "Control+Shift+8",
  ordered_list: "Control+Shift+7",
  quote: "Control+Shift+9",
  indent: "Alt+Shift+ArrowRight",
  outdent: "Alt+Shift+ArrowLeft",
  link: "Control+K",
  undo: "Control+Z",
  redo: "Control+Y",
};
const GROUPS: readonly (readonly (ActionName | "link")[])[] = [
  ["paragraph", "heading_1", "heading_2", "heading_3", "heading_4"],
  ["bold", "italic", "code", "link"],
  ["bullet_list", "ordered_list", "outdent", "indent"],
  ["quote", "code_block", "table"],
  ["undo", "redo"],
];
const OF_TABLES: readonly ActionName[] = ["add_row", "delete_row", "add_column", "delete_column", "delete_table"];

interface Entry {
  readonly button: HTMLButtonElement;
  readonly action: Action;
}

export class Toolbar {
  readonly element: HTMLElement;
  readonly #entries: Entry[] = [];
  readonly #ofTables: HTMLElement;

  constructor(
    private readonly words: Words,
    private readonly view: () => EditorView | null,
    controls: string,
    link: Action,
  ) {
    const groups = GROUPS.map((names) =>
      make("div", { class: "editor-group" }, ...names.map((name) => this.#make(name, name === "link" ? link : ACTIONS[name]))),
    );
    this.#ofTables = make("div", { class: "editor-group" }, ...OF_TABLES.map((name) => this.#make(name, ACTIONS[name])));
    this.element = make(
      "div",
      { class: "editor-toolbar", role: "toolbar", "aria-label": words.toolbar, "aria-controls": controls },
      ...groups,
      this.#ofTables,
    );
    this.element.addEventListener("keydown", (event) => this.#move(event));
    this.element.addEventListener("focusin", ({ target }) => this.#stopAt(target as HTMLElement));
    this.#stopAt(this.#entries[0]?.button ?? this.element);
  }

  focus(): void {
    this.#entries.find(({ button }) => button.tabIndex === 0)?.button.focus();
  }

  update(view: EditorView): void {
    this.#ofTables.hidden = !isInTable(view.state);
    for (const { button, action } of this.#entries) {
      if (action.isOn) button.setAttribute("aria-pressed", String(action.isOn(view.state)));
      button.setAttribute("aria-disabled", String(!action.isPossible(view.state)));
    }
    if (!this.#shown.some(({ button }) => button.tabIndex === 0)) this.#stopAt(this.#entries[0]?.button ?? this.element);
  }

  get #shown(): readonly Entry[] {
    return this.#entries.filter(({ button }) => !(button.parentElement as HTMLElement).hidden);
  }

  #make(name: ActionName | "link", action: Action): HTMLButtonElement {
    const level = /^heading_(\d)$/.exec(name)?.[1];
    const label = level ? `${this.words.heading} ${level}` : this.words[name as keyof Words];
    const picture = PICTURES[name];
    const shown = picture ? draw(picture) : (LETTERS[name as ActionName] ?? label);
    const button = make("button", { type: "button", "data-action": name, tabindex: "-1" }, shown);
    if (shown !== label) {
      button.setAttribute("aria-label", label);
      button.title = label;
    }
    const keys = KEYS[name];
    if (keys) button.setAttribute("aria-keyshortcuts", keys);
    // The text keeps its selection while a mouse presses the button.
    button.addEventListener("mousedown", (event) => event.preventDefault());
    button.addEventListener("click", () => {
      const view = this.view();
      if (!view || button.getAttribute("aria-disabled") === "true") return;
      view.focus();
      action.run(view.state, view.dispatch, view);
    });
    this.#entries.push({ button, action });
    return button;
  }

  #stopAt(stop: HTMLElement): void {
    for (const { button } of this.#entries) button.tabIndex = button === stop ? 0 : -1;
  }

  #move(event: KeyboardEvent): void {
    const buttons = this.#shown.map(({ button }) => button);
    const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: -1 }[event.key];
    if (at < 0 || to === undefined) return;
    event.preventDefault();
    buttons.at(to % buttons.length)?.focus();
  }
}

/** Return what a link's button shows. */
export function linkAction(run: Action["run"]): Action {
  const { link } = schema.marks;
  const isOn: Action["isOn"] = ({ doc, selection: { from, to, $from, empty } }) =>
    empty ? !!link.isInSet($from.marks()) : doc.rangeHasMark(from, to, link);
  return { run, isOn, isPossible: ({ selection: { $from } }) => $from.parent.inlineContent && !$from.parent.type.spec.code };
}
