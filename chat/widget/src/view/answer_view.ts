// An answer: what is to be known before reading it, its text, and below it the sources and what can be done with it.

import type { ContactKind, InPlainLanguage } from "../protocol.ts";
import type { Message } from "../state/message.ts";
import { Problem } from "../net/http.ts";
import { webAddress } from "../text/links.ts";
import { plain } from "../text/plain.ts";
import { dateOf } from "../text/times.ts";
import { language, t } from "../words/words.ts";
import { AnswerText } from "./answer_text.ts";
import { button, named, sentence, tool } from "./buttons.ts";
import { el, fill, setAttribute, setText, type Child } from "./dom.ts";
import { FeedbackForm } from "./feedback_form.ts";
import { helpContacts, helpTitle } from "./help_view.ts";
import { icon, type Icon } from "./icons.ts";
import { officeAnswer, spokenOffice } from "./office_view.ts";
import { contactLinks } from "./outward.ts";
import type { Retrial } from "./retrial.ts";
import { SourceChips } from "./sources_view.ts";
import type { MessageOptions, MessagePosition } from "./types.ts";

/** What kind of contact an address leads to. */
const KINDS: Readonly<Record<string, ContactKind>> = { "mailto:": "email", "tel:": "phone" };
/** Once one of these was the end of an answer, a person can be asked. */
const RATED = ["complete", "abstained", "stopped"];

export class AnswerView {
  readonly parts: readonly HTMLElement[];
  #options: MessageOptions;
  #retrial: Retrial;
  #office = el("div", {});
  #before = el("div", { class: "message__before" });
  #text: AnswerText;
  #after = el("div", { class: "message__after" });
  #choices = el("div", { class: "message__choices" });
  #decline = el("div", { class: "message__decline" });
  #sources: SourceChips | null = null;
  #thumbs: readonly HTMLButtonElement[] = [];
  #form: FeedbackForm | null = null;
  /** The ways to a person: in sight, among the tools, and below the feedback. */
  #persons: { [place in "seen" | "tool" | "below"]?: HTMLElement } = {};
  /** What wishes for a better answer, in sight and below the feedback. */
  #wish: HTMLElement | null = null;
  /** The answer in plain language, once it was asked for, and whether that is shown. */
  #plain: InPlainLanguage | null = null;
  #isPlain = false;

  constructor(options: MessageOptions, retrial: Retrial) {
    this.#options = options;
    this.#retrial = retrial;
    this.#text = new AnswerText({
      light: (n, on) => this.#sources?.light(n, on),
      show: (n) => this.#sources?.show(n),
    });
    const body = el("div", { class: "message__body" }, this.#office, this.#before, this.#text.element, this.#choices, this.#after);
    this.parts = [body, this.#decline];
  }

  draw(message: Message, { lastAnswer, handedOver, wished }: MessagePosition, frame: HTMLElement): void {
    const writing = message.status === "generating";
    const { help } = message;
    setAttribute(frame, "aria-busy", writing ? "true" : null);
    setAttribute(frame, "data-help", help?.kind);
    frame.classList.toggle("message--help", help !== null);
    frame.classList.toggle("message--abstained", message.abstained);
    frame.classList.toggle("message--handed-on", message.abstained && message.contact !== null);
    frame.classList.toggle("message--writing", writing && !help && message.text !== "");
    frame.onclick = ({ target }) => {
      const link = (target as Element).closest("a");
      const kind = link && (KINDS[link.protocol] ?? (link.closest(".contact") && "page"));
      if (kind && !help) this.#options.actions.useContact(message, kind);
    };
    const { office } = message;
    fill(this.#office, office, () => [office && officeAnswer(office, message.sources)]);
    this.#drawBefore(message, writing);
    const inPlain = this.#isPlain && this.#plain;
    this.#text.draw(inPlain ? { ...message, text: inPlain.text } : message, writing && !help);
    this.#drawChoices(message, lastAnswer && !writing);
    this.#drawAfter(message, writing, lastAnswer);
    this.#drawDecline(message, help !== null && lastAnswer && !writing);
    this.#drawFeedback(message);
    for (const way of Object.values(this.#persons)) way.hidden = handedOver;
    if (this.#persons.below) this.#persons.below.hidden = handedOver || message.feedback !== -1;
    if (this.#wish) this.#wish.hidden = handedOver || wished || !(message.abstained || message.feedback === -1);
  }

  #drawBefore(message: Message, writing: boolean): void {
    const { strategy, abstained, notice: told, text, choices, queue, working, help, office } = message;
    if (help) {
      fill(this.#before, help, () => [helpTitle(help), helpContacts(help)]);
      return;
    }
    const quoting = strategy === "extractive" || (writing && !this.#options.writes);
    const shown = quoting && !abstained && text !== "" && choices.length === 0;
    const absent = told === "model_unavailable" || told === "window_too_small";
    const wordsOnly = told === "words_only";
    const partlyQuoted = told === "partly_quoted";
    const waiting = writing && !text;
    const below = office && message.sources.length > 1 && !shown;
    fill(this.#before, [shown, absent, wordsOnly, partlyQuoted, waiting, abstained, queue, working, below], () => [
      abstained && notice("abstained", "help", t("abstained_title")),
      absent && notice("model-unavailable", "warning", t("notice_model_unavailable")),
      wordsOnly && notice("words-only", "warning", t("notice_words_only")),
      partlyQuoted && notice("partly-quoted", "quote", t("notice_partly_quoted")),
      shown && notice("quoting-notice", "quote", t("notice_quoting")),
      below && el("h4", { class: "sources__title" }, t("office_below")),
      waiting && waitingFor(message),
    ]);
  }

  #drawChoices({ choices }: Message, open: boolean): void {
    fill(this.#choices, [choices, open], () => {
      if (!open || choices.length === 0) return [];
      const buttons = choices.map((choice) =>
        sentence(choice, { test: "choice", press: () => this.#options.actions.ask(choice) }),
      );
      return [group("choices", t("choices_title"), buttons)];
    });
  }

  #drawAfter(message: Message, writing: boolean, lastAnswer: boolean): void {
    const { id, status, reason, error, abstained, contact, related, help } = message;
    // The words of an office stand above with a link to their page; what they link to is named here.
    const named = message.sources.filter(({ n, links = [] }) => n !== message.office?.n || links.length);
    const sources = writing || abstained ? [] : named;
    // Stopped before its first word, there is nothing to rate or to copy.
    const isSaid = message.text !== "" || message.office !== null;
    // Where an older answer leads on to, the student has passed.
    const leadsOn = status === "complete" && lastAnswer;
    fill(this.#after, [status, error, abstained, contact, related, sources, help, isSaid, leadsOn, lastAnswer, message.dates], () => {
      const said = { text: message.text, quotes: message.strategy === "extractive" };
      const redo = lastAnswer && message.strategy !== "fixed";
      this.#sources = sources.length && id !== null ? new SourceChips(id, sources, said) : null;
      this.#thumbs = [];
      this.#form = null;
      this.#persons = {};
      this.#wish = null;
      const interrupted = reason === "interrupted" ? t("answer_interrupted") : t("answer_failed");
      return [
        abstained &&
          contact &&
          el(
            "div",
            { class: "contact", "data-test": "contact" },
            el("p", {}, t("contact_title")),
            ...contactLinks(contact),
          ),
        RATED.includes(status) && (abstained || help || message.strategy === "fixed") && this.#askPerson(message, "seen"),
        abstained && !help && this.#makeWish(message),
        abstained && this.#related(related, "related_title"),
        status === "stopped" && notice("stopped", "stop", t("answer_stopped")),
        status === "stopped" && this.#again(message),
        status === "failed" && this.#retrial.problem(error || interrupted, message),
        this.#sources?.element,
        id !== null &&
          status === "complete" &&
          /^(generated|extractive)$/.test(message.strategy) &&
          this.#options.writes &&
          this.#plainSwitch(message, id),
        id !== null && message.dates.length > 0 && this.#dates(id, message.dates),
        RATED.includes(status) && !help && isSaid && this.#toolbar(message, redo),
        leadsOn && this.#related(related, "related_next"),
      ];
    });
  }

  #drawDecline(message: Message, open: boolean): void {
    const press = () => this.#options.actions.askAnyway(message);
    fill(this.#decline, open, () => [open && button("quiet", t("help_decline"), { test: "ask-anyway", press })]);
  }

  /** The calendar's files of what the answer names. */
  #dates(id: number, dates: Message["dates"]): HTMLElement {
    const problem = el("p", { class: "wrong", role: "alert" });
    const buttons = dates.map(({ begin, end, days, label }) => {
      const press = () => void attempt(() => this.#options.actions.remember(id, begin), problem);
      const words = dateOf({ begin, end, days }, language());
      const way = button("quiet", words, { test: "date", press, more: { title: label } });
      way.prepend(icon("calendar"));
      return way;
    });
    return el("div", {}, group("dates", t("dates"), buttons), problem);
  }

  #related(questions: readonly string[], title: "related_title" | "related_next"): HTMLElement | false {
    if (!questions.length) return false;
    const ask = (text: string) => () => this.#options.actions.ask(text);
    return group(
      "related",
      t(title),
      questions.map((text) => sentence(text, { test: "related-question", press: ask(text) })),
    );
  }

  /** The question once more: what was read stays above. */
  #again(message: Message): HTMLElement {
    const press = () => this.#options.actions.retry(message);
    const again = button("quiet", t("answer_again"), { test: "answer-again", press });
    again.prepend(icon("again"));
    return el("div", { class: "message__person" }, again);
  }

  /** Null where no office takes questions. */
  #askPerson(message: Message, place: "seen" | "below"): HTMLElement | null {
    if (!this.#options.offices) return null;
    const kind = message.abstained && place === "seen" ? "main" : "quiet";
    const press = () => this.#options.actions.askPerson(message);
    const way = button(kind, t("ask_person"), { test: place === "seen" ? "ask-person" : "ask-person-below", press });
    way.prepend(icon("person"));
    return (this.#persons[place] = el("div", { class: "message__person" }, way));
  }

  #makeWish(message: Message): HTMLElement {
    const problem = el("p", { class: "wrong", role: "alert" });
    const wish = () => attempt(() => this.#options.actions.wish(message), problem);
    const way = button("quiet", t("wish"), { test: "wish", press: () => void wish() });
    way.prepend(icon("bell"));
    return (this.#wish = el("div", { class: "message__person" }, way, problem));
  }

  #toolbar(message: Message, redo: boolean): HTMLElement {
    const thumb = (value: 1 | -1, name: Icon, label: string) =>
      tool(name, label, { test: name, press: () => this.#rate(message, value), more: { "data-value": value } });
    this.#thumbs = [thumb(1, "thumbs-up", t("thumbs_up")), thumb(-1, "thumbs-down", t("thumbs_down"))];
    this.#form = new FeedbackForm(message, {
      send: (...why) => this.#options.actions.rate(message, -1, ...why),
      undo: () => this.#options.actions.rate(message, 0),
    });
    const press = () => this.#options.actions.askPerson(message);
    const seen = this.#persons.seen;
    if (this.#options.offices && !seen) this.#persons.tool = tool("person", t("ask_person"), { test: "person", press });
    const copying = navigator.clipboard ? this.#copyButton(message) : null;
    this.#thumbs.forEach(named);
    const tools = el(
      "div",
      { class: "toolbar", role: "group", "aria-label": t("answer_actions") },
      ...this.#thumbs,
      copying,
      redo && tool("again", t("regenerate"), { test: "regenerate", press: () => this.#options.actions.regenerate(message) }),
      this.#persons.tool,
    );
    return el("div", {}, tools, this.#form.element, !seen && this.#askPerson(message, "below"), !this.#wish && message.strategy !== "fixed" && this.#makeWish(message));
  }

  /** A switch between the answer and the same in plain language. */
  #plainSwitch(message: Message, id: number): HTMLElement {
    const said = el("p", { class: "soft", role: "status", "data-test": "plain-status" });
    const show = async () => {
      setText(said, t("plain_waits"));
      this.#plain ??= await this.#options.actions.plain(id);
      this.#isPlain = !this.#isPlain;
      const { changed, kept } = this.#plain;
      setText(said, !this.#isPlain ? "" : !changed ? t("plain_none") : kept ? t("plain_kept", { count: kept }) : "");
      setAttribute(way, "aria-pressed", String(this.#isPlain));
      setAttribute(this.#text.element, "data-digital-source-type", this.#isPlain && changed && "trainedAlgorithmicMedia");
      this.#text.draw(this.#isPlain ? { ...message, text: this.#plain.text } : message, false);
    };
    const way = button("quiet", t("plain"), {
      test: "plain",
      press: () => {
        way.disabled = true;
        void attempt(show, said).finally(() => (way.disabled = false));
      },
      more: { class: "chip chip--words", "aria-pressed": String(this.#isPlain) },
    });
    return el("div", { class: "message__person" }, way, said);
  }

  #rate(message: Message, value: 1 | -1): void {
    const wanted = message.feedback === value ? 0 : value;
    if (!this.#options.actions.rate(message, wanted)) return;
    if (wanted === -1) this.#form?.open(message.reasons);
    else this.#form?.close();
  }

  #drawFeedback(message: Message): void {
    for (const thumb of this.#thumbs) {
      setAttribute(thumb, "aria-pressed", String(Number(thumb.dataset["value"]) === message.feedback));
    }
  }

  #copyButton(message: Message): HTMLButtonElement {
    const copy = async () => {
      const list = message.sources.map(({ n, title, url }) => {
        const address = webAddress(url);
        return `[${n}] ${title}${address ? ` – ${address}` : ""}`;
      });
      const office = message.office ? spokenOffice(message.office).map(([words]) => words).join("") : "";
      const text =
        office + [plain(message.text, { markers: true }), list.join("\n")].filter(Boolean).join("\n\n");
      try {
        await navigator.clipboard.writeText(text);
      } catch {
        // The browser refuses it to pages that are not in front or not allowed.
        this.#options.actions.announce(t("copy_failed"));
        return;
      }
      this.#options.actions.announce(t("copied"));
      button.replaceChildren(icon("check"));
      setTimeout(() => button.replaceChildren(icon("copy")), 2000);
    };
    const button = tool("copy", t("copy_answer"), { test: "copy", press: () => void copy() });
    return button;
  }
}

/** What the service refuses is said in `problem`. */
async function attempt(action: () => Promise<void>, problem: HTMLElement): Promise<void> {
  setText(problem, "");
  try {
    await action();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    setText(problem, error.detail || t("case_not_done"));
  }
}

function notice(test: string, drawing: Icon, text: string): HTMLElement {
  return el("p", { class: `notice notice--${test}`, "data-test": test }, icon(drawing), el("span", {}, text));
}

function waitingFor({ queue, working }: Message): HTMLElement {
  const doing = working?.stage === "writing" ? t("writing") : working ? t("reading", { count: working.pages ?? 0 }) : t("looking");
  const dots = el("span", { class: "dots", "aria-hidden": "true" }, el("i"), el("i"), el("i"));
  const text = queue > 0 ? t("queued", { position: queue }) : doing;
  return el("p", { class: "waiting", "data-test": queue > 0 ? "queued" : "waiting" }, dots, el("span", {}, text));
}

function group(name: string, title: string, buttons: readonly Child[]): HTMLElement {
  return el(
    "div",
    { class: `group group--${name}`, role: "group", "aria-label": title, "data-test": name },
    el("p", { class: "group__title" }, title),
    el("ul", { class: "group__list" }, ...buttons.map((button) => el("li", {}, button))),
  );
}
