// The page around the messages: consent, welcome, status bar, problems, and where the page is scrolled to.

import { Announcer } from "./announcer.js";
import { el, icon, onceAFrame, setAttribute } from "./dom.js";
import { MessageView } from "./message_view.js";
import { Follower } from "./scroll.js";
import { t } from "./strings.js";

const part = (name) => document.querySelector(`[data-part=${name}]`);

export class View {
  #list = part("messages");
  #welcome = part("welcome");
  #suggestions = part("suggestions");
  #consent = part("consent");
  #composer = part("composer");
  #status = part("status");
  #problems = part("problems");
  #begin = part("new-conversation");
  #announcer = new Announcer(part("live"));
  #follower = new Follower(part("jump"));
  #views = new Map();
  #conversation = null;
  #options;
  #draw = onceAFrame(() => this.#drawMessages());

  /** `actions`: newConversation(), ask(text), retry(message), rate(message, value). */
  constructor({ name, quotes, actions }) {
    const announce = (text) => this.#announcer.say(text);
    this.#options = { name, quotes, actions: { ...actions, announce } };
    this.#begin.addEventListener("click", () => actions.newConversation());
    for (const button of this.#suggestions?.querySelectorAll("button") ?? []) {
      button.addEventListener("click", () => actions.ask(button.dataset.question));
    }
    this.#keepComposerInMind();
  }

  announce(text) {
    this.#announcer.say(text);
  }

  // --- consent ---

  askForConsent(agree) {
    const button = this.#consent.querySelector("[data-test=consent-agree]");
    const problem = this.#consent.querySelector("[data-part=consent-problem]");
    this.#consent.hidden = false;
    document.documentElement.dataset.state = "consent";
    button.addEventListener("click", async () => {
      setAttribute(button, "aria-disabled", "true");
      problem.textContent = "";
      try {
        await agree();
        this.#consent.hidden = true;
      } catch (error) {
        problem.textContent = error.detail || t("error_session");
      } finally {
        setAttribute(button, "aria-disabled", null);
      }
    });
  }

  /** The visitor agreed: there is something to type into. */
  open() {
    this.#consent.hidden = true;
    this.#composer.hidden = false;
    this.#begin.hidden = false;
    if (this.#suggestions) this.#suggestions.hidden = false;
    // The consent that was scrolled through is gone.
    window.scrollTo({ top: 0, behavior: "instant" });
  }

  // --- state of the connection ---

  /** "connecting" (the first time), "ready", "reconnecting" or "offline". */
  showState(state) {
    document.documentElement.dataset.state = state;
    const text = { reconnecting: t("state_reconnecting"), offline: t("state_offline") }[state] ?? "";
    this.#status.hidden = !text;
    const line = this.#status.querySelector("[data-part=status-text]");
    if (line.textContent !== text) line.textContent = text;
  }

  /** A problem that belongs to no message. */
  showProblem(text) {
    const dismiss = () => this.#problems.replaceChildren();
    const button = el(
      "button",
      { type: "button", class: "tool", "aria-label": t("dismiss"), title: t("dismiss"), on: { click: dismiss } },
      icon("close"),
    );
    this.#problems.replaceChildren(
      el("div", { class: "problem", "data-test": "error-notice" }, icon("warning"), el("p", {}, text), button),
    );
  }

  clearProblem() {
    this.#problems.replaceChildren();
  }

  // --- messages ---

  show(conversation) {
    if (conversation !== this.#conversation) {
      this.#conversation = conversation;
      this.#views.clear();
      this.#list.replaceChildren();
    }
    this.#draw();
  }

  toEnd() {
    this.#drawMessages();
    this.#follower.toEnd();
  }

  #drawMessages() {
    const messages = this.#conversation?.messages ?? [];
    const empty = messages.length === 0;
    this.#welcome.hidden = !empty;
    this.#list.hidden = empty;
    this.#begin.disabled = empty;
    const keys = new Set(messages.map((message) => message.key));
    for (const [key, view] of this.#views) {
      if (keys.has(key)) continue;
      view.element.remove();
      this.#views.delete(key);
    }
    messages.forEach((message, index) => {
      const view = this.#viewOf(message);
      view.draw(message);
      const there = this.#list.children[index];
      if (there !== view.element) this.#list.insertBefore(view.element, there ?? null);
    });
    this.#grew();
  }

  #grew() {
    if (this.#list.hidden) return;
    this.#follower.grew(this.#conversation?.generating ? null : this.#lastQuestion());
  }

  #viewOf(message) {
    let view = this.#views.get(message.key);
    if (!view) {
      view = new MessageView(message, this.#options);
      this.#views.set(message.key, view);
    }
    return view;
  }

  #lastQuestion() {
    const question = this.#conversation?.messages.findLast((message) => message.role === "user");
    return (question && this.#views.get(question.key)?.element) ?? null;
  }

  /** Reads a growing answer aloud; `done` when nothing more comes. */
  follow(message, done) {
    this.#announcer.follow(message.id, message.text, done);
    if (done && message.sources.length && !message.abstained) {
      this.#announcer.say(t("announce_sources", { count: message.sources.length }));
    }
    if (done && message.status === "failed") this.#announcer.say(message.error || t("answer_failed"));
    if (done && message.status === "stopped") this.#announcer.say(t("answer_stopped"));
  }

  /** The composer covers the page's end; what is focused or linked to must not hide behind it. */
  #keepComposerInMind() {
    const root = document.documentElement;
    const measure = () => {
      root.style.setProperty("--composer-height", `${this.#composer.offsetHeight}px`);
      this.#grew();
    };
    new ResizeObserver(measure).observe(this.#composer);
  }
}
