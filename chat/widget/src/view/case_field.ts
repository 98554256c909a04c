// The field in which a student writes on to an office. What was typed stays until the office has it.

import { Problem } from "../net/http.ts";
import { t } from "../words/words.ts";
import { el, setAttribute, setText } from "./dom.ts";

const CHARACTERS = 8000;

interface FieldActions {
  typed(id: number): string;
  type(id: number, text: string): void;
  write(id: number): Promise<void>;
  announce(text: string): void;
}

export class CaseField {
  readonly element: HTMLFormElement;
  #id: number;
  #actions: FieldActions;
  #label: HTMLElement;
  #field: HTMLTextAreaElement;
  #send: HTMLButtonElement;
  #problem: HTMLElement;
  #sending = false;

  constructor(id: number, actions: FieldActions) {
    this.#id = id;
    this.#actions = actions;
    const field = `case-field-${id}`;
    this.#problem = el("p", { class: "wrong", id: `${field}-wrong`, role: "alert" });
    this.#field = el("textarea", {
      id: field,
      class: "field",
      rows: 2,
      dir: "auto",
      "data-test": "case-field",
      "aria-describedby": this.#problem.id,
      on: { input: () => actions.type(id, this.#field.value) },
    });
    this.#field.value = actions.typed(id);
    this.#label = el("label", { for: field });
    this.#send = el(
      "button",
      { type: "submit", class: "button button--quiet", "data-test": "case-send" },
      t("case_send"),
    );
    this.element = el(
      "form",
      {
        class: "case__field",
        "data-test": "case-form",
        on: {
          submit: (event) => {
            event.preventDefault();
            void this.#submit();
          },
        },
      },
      this.#label,
      this.#field,
      this.#problem,
      el("div", { class: "row" }, this.#send),
    );
  }

  draw({ office, label }: { office: string; label: "case_write" | "case_write_again" | "wish_write" }): void {
    setText(this.#label, t(label, { office }));
  }

  async #submit(): Promise<void> {
    if (this.#sending) return;
    const length = [...this.#field.value.trim()].length;
    if (length === 0) return this.#wrong(t("case_empty_message"));
    if (length > CHARACTERS) return this.#wrong(t("case_too_long", { over: length - CHARACTERS, limit: CHARACTERS }));
    this.#busy(true);
    this.#wrong("");
    try {
      await this.#actions.write(this.#id);
      this.#field.value = this.#actions.typed(this.#id);
      this.#actions.announce(t("case_sent"));
    } catch (error) {
      if (!(error instanceof Problem || error instanceof TypeError)) throw error;
      this.#wrong((error instanceof Problem && error.detail) || t("case_not_sent"));
    } finally {
      this.#busy(false);
    }
  }

  #busy(sending: boolean): void {
    this.#sending = sending;
    this.#field.readOnly = sending;
    setAttribute(this.#send, "aria-disabled", sending ? "true" : null);
  }

  #wrong(text: string): void {
    setText(this.#problem, text);
    setAttribute(this.#field, "aria-invalid", text ? "true" : null);
    if (text) this.#field.focus();
  }
}
