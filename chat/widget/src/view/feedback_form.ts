// Why an answer did not help: reasons to tap, each sent at once; for another one a few words.

import type { Reason } from "../protocol.ts";
import type { Message } from "../state/message.ts";
import { t } from "../words/words.ts";
import { button, tool } from "./buttons.ts";
import { el } from "./dom.ts";

const REASONS: readonly Reason[] = ["wrong", "outdated", "incomplete", "not_my_question", "other"];
const COMMENT_CHARACTERS = 1000;
/** The one of each answer: another that takes its place, in another language, goes on with what was entered. */
const forms = new WeakMap<Message, FeedbackForm>();

/** Each gives false where it could not be sent: then all stays as it was. */
export interface FeedbackActions {
  send(reasons: Reason[], comment: string): boolean;
  undo(): boolean;
}

export class FeedbackForm {
  readonly element: HTMLFormElement;
  #boxes: ReadonlyMap<Reason, HTMLInputElement>;
  #comment: HTMLTextAreaElement;
  #words: HTMLElement;
  #sentComment = "";

  constructor(message: Message, { send, undo }: FeedbackActions) {
    const id = `feedback-${message.id}`;
    const choose = (box: HTMLInputElement) => {
      if (!send(this.#chosen(), this.#sentComment)) box.checked = !box.checked;
      this.#showComment();
      if (box.value === "other" && box.checked) this.#comment.focus();
    };
    this.#boxes = new Map(
      REASONS.map((reason) => {
        const box: HTMLInputElement = el("input", {
          type: "checkbox",
          value: reason,
          "data-test": `reason-${reason}`,
          on: { change: () => choose(box) },
        });
        return [reason, box];
      }),
    );
    this.#comment = el("textarea", {
      id,
      rows: 2,
      maxlength: COMMENT_CHARACTERS,
      dir: "auto",
      class: "field",
      "data-test": "feedback-comment",
    });
    const submit = { type: "submit", class: "button button--quiet", "data-test": "send-feedback" };
    this.#words = el(
      "div",
      { class: "feedback__words", hidden: true },
      el("label", { for: id }, t("comment")),
      this.#comment,
      el("button", submit, t("send_feedback")),
    );
    const chips = REASONS.map((reason) =>
      el("label", { class: "chip chip--words reason" }, this.#boxes.get(reason), el("span", {}, t(`reason_${reason}`))),
    );
    const submitted = (event: Event) => {
      event.preventDefault();
      const comment = this.#comment.value.trim();
      if (!send(this.#chosen(), comment)) return;
      this.#sentComment = comment;
      this.close();
    };
    this.element = el(
      "form",
      { class: "feedback", hidden: true, "data-test": "feedback-form", on: { submit: submitted } },
      el(
        "fieldset",
        { class: "feedback__reasons" },
        el("legend", {}, t("reasons_title")),
        ...chips,
        button("plain", t("undo"), { test: "undo-feedback", press: () => undo() && this.close() }),
        tool("close", t("dismiss"), { test: "close-feedback", press: () => this.close() }),
      ),
      this.#words,
    );
    const before = forms.get(message);
    forms.set(message, this);
    if (!before) return;
    this.#comment.value = before.#comment.value;
    this.#sentComment = before.#sentComment;
    if (!before.element.hidden) this.open(before.#chosen());
  }

  open(reasons: readonly string[]): void {
    for (const [reason, box] of this.#boxes) box.checked = reasons.includes(reason);
    this.#showComment();
    this.element.hidden = false;
    this.element.scrollIntoView({ block: "nearest" });
    this.#boxes.get("wrong")?.focus({ preventScroll: true });
  }

  close(): void {
    if (this.element.hidden) return;
    const inside = this.element.contains((this.element.getRootNode() as ShadowRoot).activeElement);
    this.element.hidden = true;
    // The way back to the thumb that opened it.
    const thumb = this.element.parentElement?.querySelector<HTMLElement>('[data-test="thumbs-down"]');
    if (inside) thumb?.focus({ preventScroll: true });
  }

  #chosen(): Reason[] {
    return REASONS.filter((reason) => this.#boxes.get(reason)?.checked);
  }

  #showComment(): void {
    this.#words.hidden = !this.#boxes.get("other")?.checked;
  }
}
