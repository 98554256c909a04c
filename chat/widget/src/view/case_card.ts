// A question that was left with an office, or that waits for an answer: where it stands, what was said, what can be done.

import { isWish, officeOf } from "../chat/replies.ts";
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
  ask(text: string): void;
  /** The card is gone. */
  withdrawn(): void;
}

/** What the cards know of the service. */
export interface CaseOptions {
  name: string;
  offices: boolean;
  mails: boolean;
  cases: CaseActions;
}

export class CaseCard {
  readonly element: HTMLElement;
  #id: number;
  #actions: CaseActions;
  #options: CaseOptions;
  #title = el("h3", { class: "case__title", tabindex: "-1", "data-test": "case-title" });
  #state = el("p", { class: "case__state", "data-test": "case-state" });
  #mails = el("p", { class: "case__state", "data-test": "case-mails", hidden: true });
  #messages = el("ol", { class: "case__messages", "data-test": "case-messages" });
  #helped = el("div", { class: "case__helped" });
  #foot = el("div", { class: "row" });
  #problem = el("p", { class: "pane__problem", role: "alert" });
  #field: CaseField;
  #address: CaseAddress;

  constructor({ id }: CaseView, options: CaseOptions) {
    const actions = options.cases;
    this.#id = id;
    this.#actions = actions;
    this.#options = options;
    this.#title.id = `case-${id}`;
    this.#field = new CaseField(id, actions);
    this.#address = new CaseAddress(id, (email) => this.#setAddress(email));
    this.element = el(
      "div",
      { class: "case", role: "listitem", "data-test": "case", "data-id": id },
      el("div", { class: "case__head" }, this.#title, this.#state, this.#mails, this.#address.element),
      this.#messages,
      this.#helped,
      this.#field.element,
      this.#problem,
      this.#foot,
    );
  }

  draw(one: CaseView): void {
    const { state, reply_due: due, mails, messages, question, opened_at: at, helped } = one;
    const office = officeOf(one);
    const wish = isWish(one);
    const asks = state === "replied" && messages.at(-1)?.asks_back === true;
    setAttribute(this.element, "data-state", state);
    fill(this.#title, [office, state], () => [
      icon(wish ? "bell" : "person"),
      el("span", {}, wish ? t(`wish_title_${state === "told" ? "told" : "watching"}`) : t("case_title", { office })),
    ]);
    setText(this.#state, stateOf(one, asks));
    this.#mails.hidden = !mails;
    this.#address.element.hidden = !mails && !(state === "watching" && this.#options.mails);
    this.#address.draw(mails !== "");
    if (mails) setText(this.#mails, t(`case_mails_${mails}`));
    const names = { office, assistant: this.#options.name, student: t("you") };
    fill(this.#messages, [at, question, messages, office], () => [
      said({ by: "student", text: question, created_at: at }, names),
      ...messages.map((words) => said(words, names)),
    ]);
    const replied = messages.some(({ by }) => by !== "student") && !asks && state !== "open";
    const again = () =>
      button("main", t("wish_again"), { test: "wish-again", press: () => this.#actions.ask(question) });
    fill(this.#helped, [replied, helped, due, state], () => [
      state === "told" && el("div", { class: "row" }, again()),
      replied && this.#asks(helped),
    ]);
    this.#field.element.hidden = wish && !(state === "told" && this.#options.offices);
    this.#field.draw({ office, label: wish ? "wish_write" : state === "closed" ? "case_write_again" : "case_write" });
    fill(this.#foot, wish, () => [this.#withdrawal(wish ? "wish" : "case")]);
  }

  #withdrawal(kind: "case" | "wish"): HTMLElement {
    return button("plain", t(`${kind}_withdraw`), {
      test: "case-withdraw",
      more: { "data-confirms": "" },
      press: () =>
        confirm({
          question: t(`${kind}_withdraw_question`),
          yes: t("case_withdraw_yes"),
          instead: this.#foot,
          act: () => this.#withdraw(kind),
        }),
    });
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

  async #withdraw(kind: "case" | "wish"): Promise<void> {
    if (!(await this.#attempt(() => this.#actions.withdraw(this.#id)))) return;
    this.#actions.announce(t(`${kind}_withdrawn`));
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
  if (isWish(one)) return t(`wish_${one.state === "told" ? "told" : "waits"}`);
  if (one.state === "closed") return t("case_closed");
  if (one.state === "replied") return t(asks ? "case_asks" : "case_replied", { office });
  const late = Date.parse(one.reply_due) < Date.now();
  return t(late ? "case_late" : "case_waits", { office, due: dueOf(one.reply_due, language()) });
}

function said(
  { by, text, created_at: at }: Pick<CaseWords, "by" | "text" | "created_at">,
  names: Record<CaseWords["by"], string>,
): HTMLElement {
  const moment = momentOf(at, language());
  const none = () => {};
  const words = by !== "student" ? new AnswerText({ light: none, show: none }) : null;
  words?.draw({ text, sources: [] }, false, true);
  const meta: Child[] = [
    el("span", { class: "message__author" }, names[by]),
    moment && el("time", { class: "message__time", datetime: at, title: moment.full }, moment.short),
  ];
  return el(
    "li",
    { class: `case__said case__said--${by}`, "data-test": "case-message", "data-by": by },
    el("div", { class: "message__meta" }, ...meta),
    words?.element ?? el("div", { class: "case__words", dir: "auto" }, text),
  );
}
