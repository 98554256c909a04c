// Where replies of an office go by e-mail, to be changed or ended.

import { t } from "../words/words.ts";
import { el, setAttribute, setText } from "./dom.ts";

const CHARACTERS = 254;

export class CaseAddress {
  readonly element: HTMLDetailsElement;
  #field: HTMLInputElement;
  #wrong: HTMLElement;
  #summary = el("summary", { "data-test": "case-address-open" });
  #label: HTMLLabelElement;

  /** `save` gives false where the service refuses, which is then said there; empty ends the e-mails. */
  constructor(id: number, save: (address: string) => Promise<boolean>) {
    const name = `case-address-${id}`;
    this.#wrong = el("p", { class: "wrong", id: `${name}-wrong`, role: "alert" });
    this.#field = el("input", {
      id: name,
      type: "email",
      class: "field",
      maxlength: CHARACTERS,
      autocomplete: "email",
      "data-test": "case-address",
      "aria-describedby": this.#wrong.id,
    });
    this.#label = el("label", { for: name });
    const submit = async () => {
      const { valid } = this.#field.validity;
      setText(this.#wrong, valid ? "" : t("handover_email_wrong"));
      setAttribute(this.#field, "aria-invalid", valid ? null : "true");
      if (!valid) return this.#field.focus();
      const address = this.#field.value.trim();
      if (!(await save(address))) return;
      this.#field.value = "";
      this.element.open = false;
      if (address) this.#summary.focus();
    };
    this.element = el(
      "details",
      { class: "case__address", hidden: true, "data-test": "case-mail" },
      this.#summary,
      el(
        "form",
        {
          class: "case__field",
          novalidate: true,
          on: {
            submit: (event) => {
              event.preventDefault();
              void submit();
            },
          },
        },
        this.#label,
        this.#field,
        this.#wrong,
        el(
          "div",
          { class: "row" },
          el("button", { type: "submit", class: "button button--quiet", "data-test": "case-address-save" }, t("save")),
        ),
      ),
    );
  }

  /** `known`: there is an address already. */
  draw(known: boolean): void {
    setText(this.#summary, t(known ? "case_address" : "wish_address"));
    setText(this.#label, t(known ? "case_address_new" : "wish_address_new"));
  }
}
