// One message in the list. It is drawn again only where it changed, so that a reader's selection and focus in the
// parts that stand are left alone while the rest is still being written.

import type { Message } from "../state/message.ts";
import { momentOf } from "../text/times.ts";
import { language, t } from "../words/words.ts";
import { AnswerView } from "./answer_view.ts";
import { tool } from "./buttons.ts";
import { el, fill, setAttribute, setText } from "./dom.ts";
import { Retrial } from "./retrial.ts";
import type { MessageActions, MessageOptions, MessagePosition } from "./types.ts";

export class MessageView {
  readonly element: HTMLElement;
  #drawn = "";
  #time = el("span", { class: "message__time" });
  #answer: AnswerView | null = null;
  #question = el("div", { class: "question-text", dir: "auto", "data-test": "question-text" });
  #below = el("div", { class: "message__below" });
  #retrial: Retrial;
  #actions: MessageActions;

  constructor(message: Message, options: MessageOptions) {
    const mine = message.role === "user";
    this.#actions = options.actions;
    this.#retrial = new Retrial((failed) => options.actions.retry(failed));
    if (!mine) this.#answer = new AnswerView(options, this.#retrial);
    const author = mine ? t("you") : options.name;
    this.element = el(
      "div",
      { class: `message message--${message.role}`, role: "listitem", "data-test": "message", "data-role": message.role },
      el("div", { class: "message__meta" }, el("h3", { class: "message__author" }, author), this.#time),
      ...(this.#answer?.parts ?? [this.#question, this.#below]),
    );
  }

  draw(message: Message, place: MessagePosition): void {
    const state = `${message.version}|${place.lastAnswer}|${place.lastQuestion}|${place.handedOver}|${place.wished}`;
    if (this.#drawn === state) return;
    this.#drawn = state;
    setAttribute(this.element, "data-status", message.status);
    setAttribute(this.element, "data-id", message.id);
    setAttribute(this.element, "data-strategy", message.strategy || null);
    // The mark for programs that read the page (EU AI Act, article 50 (2)), as the IPTC names it.
    const made = message.strategy === "extractive" ? "algorithmicMedia" : "trainedAlgorithmicMedia";
    setAttribute(this.element, "data-digital-source-type", message.machineMade && made);
    this.#drawTime(message);
    if (this.#answer) this.#answer.draw(message, place, this.element);
    else this.#drawQuestion(message, place);
  }

  #drawTime({ createdAt, status }: Message): void {
    fill(this.#time, [createdAt, status, language()], () => {
      if (status === "sending") return [t("sending")];
      if (status === "unsent") return [t("not_sent")];
      const moment = momentOf(createdAt, language());
      return [moment && el("time", { datetime: createdAt, title: moment.full }, moment.short)];
    });
  }

  #drawQuestion(message: Message, { lastQuestion }: MessagePosition): void {
    setText(this.#question, message.text);
    const { status, error, retryAt } = message;
    fill(this.#below, [status, error, retryAt, lastQuestion], () => [
      status === "unsent" && this.#retrial.problem(error || t("error_generic"), message),
      lastQuestion && tool("edit", t("edit"), { test: "edit", press: () => this.#actions.edit(message) }),
    ]);
  }
}
