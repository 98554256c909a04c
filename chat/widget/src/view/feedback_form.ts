// Why an answer did not help: reasons to choose from, and for another one a few words.

import type { Reason } from "../protocol.ts";
import type { Message } from "../state/message.ts";
import { t } from "../words/words.ts";
import { tool } from "./buttons.ts";
import { el } from "./dom.ts";

const REASONS: readonly Reason[] = ["wrong", "outdated", "incomplete", "not_my_question", "other"];
const COMMENT_CHARACTERS = 1000;
/** The one of each answer: another that takes its place, in another language, goes on with what was entered. */
const forms = new WeakMap<Message, FeedbackForm>();

export class FeedbackForm {
  readonly element: HTMLFormElement;
  #boxes: ReadonlyMap<Reason, HTMLInputElement>;
  #comment: HTMLTextAreaElement;
  #words: HTMLElement;

  /** `send` gives false where it could not be sent: then all stays as it was entered. */
  constructor(message: Message, send: (reasons: Reason[], comment: string) => boolean) {
    const id = `feedback-${message.id}`;
    const show = () => this.#showComment();
    this.#boxes = new Map(
      REASONS.map((reason) => [
        reason,
        el("input", { type: "checkbox", value: reason, "data-test": `reason-${reason}`, on: { change: show } }),
      ]),
    );
    this.#comment = el("textarea", {
      id,
      rows: 2,
      maxlength: COMMENT_CHARACTERS,
      dir: "auto",
      class: "field",
      "data-test": "feedback-comment",
    });
    this.#words = el("div", { hidden: true }, el("label", { for: id }, t("comment")), this.#comment);
    const labels = REASONS.map((reason) =>
      el("label", { class: "check" }, this.#boxes.get(reason), el("span", {}, t(`reason_${reason}`))),
    );
    this.element = el(
      "form",
      {
        class: "feedback",
        hidden: true,
        "data-test": "feedback-form",
        on: {
          submit: (event) => {
            event.preventDefault();
            const chosen = this.#chosen();
            if (send(chosen, chosen.includes("other") ? this.#comment.value.trim() : "")) this.close();
          },
        },
      },
      el("fieldset", {}, el("legend", {}, t("reasons_title")), ...labels),
      this.#words,
      el(
        "div",
        { class: "row" },
        el(
          "button",
          { type: "submit", class: "button button--quiet", "data-test": "send-feedback" },
          t("send_feedback"),
        ),
        tool("close", t("dismiss"), { test: "close-feedback", press: () => this.close() }),
      ),
    );
    const before = forms.get(message);
    forms.set(message, this);
    if (!before) return;
    this.#comment.value = before.#comment.value;
    if (!before.element.hidden) this.open(before.#chosen());
  }

  open(reasons: readonly string[]): void {
    for (const [reason, box] of this.#boxes) box.checked = reasons.includes(reason);
    this.#showComment();
    this.element.hidden = false;
    this.#boxes.get("wrong")?.focus();
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
    this.#words.hidden = !this.#chosen().includes("other");
  }
}
