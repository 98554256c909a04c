// A question that was left with an office: where it stands, what both sides said, and what can still be done.

import { officeOf } from "../chat/replies.ts";
import { Problem } from "../net/http.ts";
import type { CaseView, CaseWords } from "../protocol.ts";
import { dueOf, momentOf } from "../text/times.ts";
import { language, t } from "../words/words.ts";
import { AnswerText } from "./answer_text.ts";
import { button } from "./buttons.ts";
import { CaseAddress } from "./case_address.ts";
import { CaseField } from "./case_field.ts";
import { confirm } from "./confirm.ts";
import { el, fill, setAttribute, setText, type Child } from "./dom.ts";
import { icon } from "./icons.ts";

export interface CaseActions {
  /** What was typed for the office of this case and not sent. */
  typed(id: number): string;
  type(id: number, text: string): void;
  /** These raise Problem. */
  write(id: number): Promise<void>;
  setAddress(id: number, email: string): Promise<void>;
  sayHelped(id: number, helped: boolean | null): Promise<void>;
  withdraw(id: number): Promise<void>;
  announce(text: string): void;
  /** The card is gone. */
  withdrawn(): void;
}

export class CaseCard {
  readonly element: HTMLElement;
  #id: number;
  #actions: CaseActions;
  #title = el("h3", { class: "case__title", tabindex: "-1", "data-test": "case-title" });
  #state = el("p", { class: "case__state", "data-test": "case-state" });
  #mails = el("p", { class: "case__state", "data-test": "case-mails", hidden: true });
  #messages = el("ol", { class: "case__messages", "data-test": "case-messages" });
  #helped = el("div", {});
  #problem = el("p", { class: "pane__problem", role: "alert" });
  #field: CaseField;
  #address: CaseAddress;

  constructor({ id }: CaseView, actions: CaseActions) {
    this.#id = id;
    this.#actions = actions;
    this.#title.id = `case-${id}`;
    this.#field = new CaseField(id, actions);
    this.#address = new CaseAddress(id, (email) => this.#setAddress(email));
    const foot = el("div", { class: "row" });
    foot.append(
      button("plain", t("case_withdraw"), {
        test: "case-withdraw",
        more: { "data-confirms": "" },
        press: () =>
          confirm({
            question: t("case_withdraw_question"),
            yes: t("case_withdraw_yes"),
            instead: foot,
            act: () => this.#withdraw(),
          }),
      }),
    );
    this.element = el(
      "li",
      { class: "case", "data-test": "case", "data-id": id },
      el("div", { class: "case__head" }, this.#title, this.#state, this.#mails, this.#address.element),
      this.#messages,
      this.#helped,
      this.#field.element,
      this.#problem,
      foot,
    );
  }

  draw(one: CaseView): void {
    const { state, reply_due: due, mails, messages, question, opened_at: at, helped } = one;
    const office = officeOf(one);
    const asks = state === "replied" && messages.at(-1)?.asks_back === true;
    setAttribute(this.element, "data-state", state);
    fill(this.#title, office, () => [icon("person"), el("span", {}, t("case_title", { office }))]);
    setText(this.#state, stateOf(one, asks));
    this.#mails.hidden = this.#address.element.hidden = !mails;
    if (mails) setText(this.#mails, t(`case_mails_${mails}`));
    fill(this.#messages, [at, question, messages, office], () => [
      said({ by: "student", text: question, created_at: at }, office),
      ...messages.map((words) => said(words, office)),
    ]);
    const replied = messages.some(({ by }) => by === "office") && !asks && state !== "open";
    fill(this.#helped, [replied, helped, due], () => [replied && this.#asks(helped)]);
    this.#field.draw({ office, closed: state === "closed" });
  }

  /** To its heading, which gets the focus and is given back. */
  focus(): Element {
    this.#title.focus({ preventScroll: true });
    return this.#show(this.#title);
  }

  /** To what was said last, which is given back. */
  showLast(): Element {
    return this.#show(this.#messages.lastElementChild ?? this.#title);
  }

  /** All of the card where there is room for it, else this part. */
  #show(part: Element): Element {
    this.element.scrollIntoView({ block: "nearest" });
    part.scrollIntoView({ block: "nearest" });
    return part;
  }

  #asks(helped: boolean | null): HTMLElement {
    const answer = (value: boolean, label: string, test: string) =>
      button("quiet", label, {
        test,
        more: { "aria-pressed": String(helped === value) },
        press: () => void this.#sayHelped(helped === value ? null : value, test),
      });
    return el(
      "div",
      { class: "row", role: "group", "aria-label": t("case_helped"), "data-test": "case-helped" },
      el("p", {}, t("case_helped")),
      answer(true, t("yes"), "case-helped-yes"),
      answer(false, t("no"), "case-helped-no"),
    );
  }

  async #sayHelped(helped: boolean | null, test: string): Promise<void> {
    if (!(await this.#attempt(() => this.#actions.sayHelped(this.#id, helped)))) return;
    this.#actions.announce(t(helped === null ? "feedback_removed" : "thanks"));
    // Its button was drawn anew.
    requestAnimationFrame(() => this.#helped.querySelector<HTMLElement>(`[data-test="${test}"]`)?.focus());
  }

  async #setAddress(email: string): Promise<boolean> {
    if (!(await this.#attempt(() => this.#actions.setAddress(this.#id, email)))) return false;
    this.#actions.announce(t(email ? "case_mails_unconfirmed" : "case_mails_ended"));
    // Where there are no e-mails any more, there is nothing to change.
    if (!email) this.#title.focus({ preventScroll: true });
    return true;
  }

  async #withdraw(): Promise<void> {
    if (!(await this.#attempt(() => this.#actions.withdraw(this.#id)))) return;
    this.#actions.announce(t("case_withdrawn"));
    this.#actions.withdrawn();
  }

  /** False where the service refuses, which is then said. */
  async #attempt(action: () => Promise<void>): Promise<boolean> {
    setText(this.#problem, "");
    try {
      await action();
      return true;
    } catch (error) {
      if (!(error instanceof Problem || error instanceof TypeError)) throw error;
      setText(this.#problem, (error instanceof Problem && error.detail) || t("case_not_done"));
      return false;
    }
  }
}

function stateOf(one: CaseView, asks: boolean): string {
  const office = officeOf(one);
  if (one.state === "closed") return t("case_closed");
  if (one.state === "replied") return t(asks ? "case_asks" : "case_replied", { office });
  const late = Date.parse(one.reply_due) < Date.now();
  return t(late ? "case_late" : "case_waits", { office, due: dueOf(one.reply_due, language()) });
}

function said(
  { by, text, created_at: at }: Pick<CaseWords, "by" | "text" | "created_at">,
  office: string,
): HTMLElement {
  const moment = momentOf(at, language());
  const none = () => {};
  const words = by === "office" ? new AnswerText({ light: none, show: none }) : null;
  words?.draw({ text, sources: [] }, false, true);
  const meta: Child[] = [
    el("span", { class: "message__author" }, by === "office" ? office : t("you")),
    moment && el("time", { class: "message__time", datetime: at, title: moment.full }, moment.short),
  ];
  return el(
    "li",
    { class: `case__said case__said--${by}`, "data-test": "case-message", "data-by": by },
    el("div", { class: "message__meta" }, ...meta),
    words?.element ?? el("div", { class: "case__words", dir: "auto" }, text),
  );
}
