// The visitor's conversations: open, rename, delete.

import type { ConversationSummary } from "../protocol.ts";
import { momentOf } from "../text/times.ts";
import { language, t } from "../words/words.ts";
import { button, tool } from "./buttons.ts";
import { confirm } from "./confirm.ts";
import { el } from "./dom.ts";
import { Pane } from "./pane.ts";

const TITLE_CHARACTERS = 120;

export interface ConversationsActions {
  /** All raise Problem. */
  load(): Promise<ConversationSummary[]>;
  rename(id: string, title: string): Promise<void>;
  remove(id: string): Promise<void>;
  open(id: string, title: string): void;
  begin(): void;
  announce(text: string): void;
}

export class ConversationsPane {
  readonly pane: Pane;
  #actions: ConversationsActions;
  #current = "";

  constructor(actions: ConversationsActions, onClosed: () => void) {
    this.#actions = actions;
    this.pane = new Pane({ name: "conversations", title: t("conversations"), onClosed });
  }

  open(current: string): void {
    this.pane.open();
    this.#wait();
    this.list(current);
  }

  /** Lists them anew; what is listed stands until then. */
  list(current: string): void {
    this.#current = current;
    if (!this.pane.content.hasChildNodes()) this.#wait();
    void this.#load();
  }

  #wait(): void {
    this.pane.content.replaceChildren(el("p", { class: "soft", role: "status" }, t("list_loading")));
  }

  async #load(): Promise<void> {
    const rows = await this.pane.attempt(() => this.#actions.load(), t("list_failed"));
    if (!rows) {
      this.pane.content.replaceChildren(
        button("quiet", t("try_again"), { test: "load-again", press: () => void this.#load() }),
      );
      return;
    }
    // Somebody is at a title, or asked whether to delete.
    if (this.pane.content.querySelector(".renaming, .confirm")) return;
    this.#draw(rows);
  }

  #draw(rows: readonly ConversationSummary[]): void {
    const begin = button("quiet", t("new_conversation"), {
      test: "list-new",
      press: () => this.#leave(() => this.#actions.begin()),
    });
    const list = el(
      "ul",
      { class: "conversations", "data-test": "conversations" },
      ...rows.map((row) => this.#row(row)),
    );
    this.pane.content.replaceChildren(begin, rows.length ? list : el("p", { class: "soft" }, t("list_empty")));
  }

  #row(row: ConversationSummary): HTMLElement {
    const moment = momentOf(row.updated_at, language());
    const title = row.title || t("untitled", { time: moment?.short ?? "" });
    const here = row.id === this.#current;
    const facts = [here && !this.pane.isBeside && t("open_now"), moment?.short, t("messages", { count: row.messages })].filter(Boolean).join(" · ");
    const item = el("li", { "data-test": "conversation", "data-id": row.id });
    const opening = el(
      "button",
      {
        type: "button",
        class: "conversation__open",
        "data-test": "open-conversation",
        "aria-current": here ? "true" : null,
        on: { click: () => this.#leave(() => this.#actions.open(row.id, title)) },
      },
      el("span", { class: "conversation__title", dir: "auto" }, title),
      el("span", { class: "conversation__facts" }, facts),
    );
    const line = el(
      "div",
      { class: "conversation" },
      opening,
      tool("edit", t("rename", { title }), { test: "rename", press: () => this.#rename(row, title, item) }),
      tool("delete", t("delete", { title }), {
        test: "delete",
        more: { "data-confirms": "" },
        press: () =>
          confirm({
            question: t("delete_question"),
            yes: t("delete_yes"),
            instead: line,
            act: () => this.#remove(row, item),
          }),
      }),
    );
    item.append(line);
    return item;
  }

  #rename(row: ConversationSummary, title: string, item: HTMLElement): void {
    const id = `title-${row.id}`;
    const field = el("input", {
      id,
      class: "field",
      value: title,
      maxlength: TITLE_CHARACTERS,
      required: true,
      dir: "auto",
      "data-test": "title",
    });
    const back = () => {
      const fresh = this.#row(row);
      item.replaceWith(fresh);
      fresh.querySelector<HTMLElement>('[data-test="rename"]')?.focus();
    };
    const save = async () => {
      const wanted = field.value.trim();
      if (!wanted) return;
      const done = await this.pane.attempt(async () => {
        await this.#actions.rename(row.id, wanted);
        return true;
      });
      if (!done) return;
      row = { ...row, title: wanted };
      this.#actions.announce(t("renamed"));
      back();
    };
    const form = el(
      "form",
      {
        class: "renaming",
        "data-test": "renaming",
        on: {
          submit: (event) => {
            event.preventDefault();
            void save();
          },
          keydown: (event) => {
            if (event.key !== "Escape") return;
            event.stopPropagation();
            back();
          },
        },
      },
      el("label", { for: id }, t("title_label")),
      field,
      el(
        "div",
        { class: "row" },
        el("button", { type: "submit", class: "button button--main", "data-test": "save-title" }, t("save")),
        button("quiet", t("cancel"), { test: "cancel", press: back }),
      ),
    );
    item.replaceChildren(form);
    field.focus();
    field.select();
  }

  async #remove(row: ConversationSummary, item: HTMLElement): Promise<void> {
    const gone = await this.pane.attempt(async () => {
      await this.#actions.remove(row.id);
      return true;
    });
    if (!gone) return;
    const next = item.nextElementSibling ?? item.previousElementSibling;
    if (next) item.remove();
    else this.#draw([]);
    this.#actions.announce(t("deleted"));
    // Beside the chat there is no button without a conversation.
    const here = this.pane.element.querySelector<HTMLElement>(this.pane.isBeside ? "h3" : ".pane__content button");
    (next?.querySelector("button") ?? here)?.focus();
  }

  #leave(then: () => void): void {
    this.pane.close({ restoreFocus: false });
    then();
  }
}
