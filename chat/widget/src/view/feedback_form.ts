// Why an answer did not help: reasons to tap, each sent at once; for another one a few words.

import type { Reason } from "../protocol.ts";
import type { Message } from "../state/message.ts";
import { t } from "../words/words.ts";
import { button, tool } from "./buttons.ts";
import { el } from "./dom.ts";

const REASONS: readonly Reason[] = ["wrong", "outdated", "incomplete", "not_my_question", "other"];
const COMMENT_CHARACTERS = 1000;

/** `sent` is the comment that the service has. */
interface Entered {
  isOpen: boolean;
  reasons: readonly string[];
  comment: string;
  sent: string;
}

/** Of each answer: a form that takes the place of another, in another language, goes on with what was entered. */
const enteredOf = new WeakMap<Message, Entered>();

/** Each gives false where it could not be sent: then all stays as it was. */
export interface FeedbackActions {
  send(reasons: Reason[], comment: string): boolean;
  undo(): boolean;
}

export class FeedbackForm {
  /** Empty while it is closed: browsers look through all fields of a page for what they could fill in. */
  readonly element = el("div", {});
  #id: string;
  #actions: FeedbackActions;
  #entered: Entered;

  constructor(message: Message, actions: FeedbackActions) {
    this.#id = `feedback-${message.id}`;
    this.#actions = actions;
    this.#entered = enteredOf.get(message) ?? { isOpen: false, reasons: [], comment: "", sent: "" };
    enteredOf.set(message, this.#entered);
    this.#draw();
  }

  open(reasons: readonly string[]): void {
    Object.assign(this.#entered, { isOpen: true, reasons });
    this.#draw();
    this.element.scrollIntoView({ block: "nearest" });
    this.element.querySelector("input")?.focus({ preventScroll: true });
  }

  close(): void {
    const inside = this.element.contains((this.element.getRootNode() as ShadowRoot).activeElement);
    this.#entered.isOpen = false;
    this.#draw();
    // The way back to the thumb that opened it.
    const thumb = this.element.parentElement?.querySelector<HTMLElement>('[data-test="thumbs-down"]');
    if (inside) thumb?.focus({ preventScroll: true });
  }

  #draw(): void {
    this.element.replaceChildren(...(this.#entered.isOpen ? [this.#form()] : []));
  }

  #form(): HTMLElement {
    const entered = this.#entered;
    const { send, undo } = this.#actions;
    const comment = el("textarea", {
      id: this.#id,
      rows: 2,
      maxlength: COMMENT_CHARACTERS,
      dir: "auto",
      class: "field",
      "data-test": "feedback-comment",
      on: { input: () => (entered.comment = comment.value) },
    });
    comment.value = entered.comment;
    const submit = { type: "submit", class: "button button--quiet", "data-test": "send-feedback" };
    const words = el(
      "div",
      { class: "feedback__words", hidden: !entered.reasons.includes("other") },
      el("label", { for: this.#id }, t("comment")),
      comment,
      el("button", submit, t("send_feedback")),
    );
    const boxes = REASONS.map((reason) =>
      el("input", {
        type: "checkbox",
        value: reason,
        checked: entered.reasons.includes(reason),
        "data-test": `reason-${reason}`,
        on: { change: ({ target }) => choose(target as HTMLInputElement) },
      }),
    );
    const chosen = () => REASONS.filter((_, index) => boxes[index]?.checked);
    const choose = (box: HTMLInputElement) => {
      if (!send(chosen(), entered.sent)) box.checked = !box.checked;
      entered.reasons = chosen();
      words.hidden = !entered.reasons.includes("other");
      if (box.value === "other" && box.checked) comment.focus();
    };
    const submitted = (event: Event) => {
      event.preventDefault();
      const text = comment.value.trim();
      if (!send(chosen(), text)) return;
      entered.sent = text;
      this.close();
    };
    return el(
      "form",
      { class: "feedback", "data-test": "feedback-form", on: { submit: submitted } },
      el(
        "fieldset",
        { class: "feedback__reasons" },
        el("legend", {}, t("reasons_title")),
        ...boxes.map((box, index) =>
          el("label", { class: "chip chip--words reason" }, box, el("span", {}, t(`reason_${REASONS[index] as Reason}`))),
        ),
        button("plain", t("undo"), { test: "undo-feedback", press: () => undo() && this.close() }),
        tool("close", t("dismiss"), { test: "close-feedback", press: () => this.close() }),
      ),
      words,
    );
  }
}
