// One message on the page. It is drawn again only where it changed, so that a reader's selection and focus in the
// parts that stand are left alone while the rest is still being written.

import { el, icon, setAttribute } from "./dom.js";
import { mailAddress, webAddress } from "./links.js";
import { citationLink, outward, sourceList } from "./sources_view.js";
import { t } from "./strings.js";
import { blockNode, blocks, plain, settled } from "./text.js";
import { timeNode } from "./times.js";

const RATED = ["complete", "abstained", "stopped"];

export class MessageView {
  #drawn = -1;
  #actions;
  #blocks = [];
  #parts = {};
  #timer = 0;

  /** `actions`: ask(text), retry(message), rate(message, value), announce(text). */
  constructor(message, { name, quotes, actions }) {
    this.#actions = actions;
    this.name = name;
    this.quotes = quotes;
    const mine = message.role === "user";
    this.#parts.time = el("span", { class: "message__time" });
    this.#parts.body = el("div", {
      class: mine ? "question-text" : "answer-text",
      dir: "auto",
      "data-test": mine ? "question-text" : "answer-text",
    });
    this.#parts.before = el("div", { class: "message__before" });
    this.#parts.after = el("div", { class: "message__after" });
    this.element = el(
      "li",
      { class: `message message--${message.role}`, "data-test": "message", "data-role": message.role },
      el(
        "div",
        { class: "message__meta" },
        el("h2", { class: "message__author" }, mine ? t("you") : name),
        this.#parts.time,
      ),
      this.#parts.before,
      this.#parts.body,
      this.#parts.after,
    );
  }

  draw(message) {
    if (this.#drawn === message.version) return;
    this.#drawn = message.version;
    setAttribute(this.element, "data-status", message.status);
    setAttribute(this.element, "data-id", message.id);
    setAttribute(this.element, "data-strategy", message.strategy);
    this.#drawTime(message);
    if (message.role === "user") this.#drawQuestion(message);
    else this.#drawAnswer(message);
  }

  #drawTime({ createdAt, status }) {
    const shown = status === "sending" ? t("sending") : status === "unsent" ? t("not_sent") : timeNode(createdAt);
    fill(this.#parts.time, `${createdAt}|${status}`, () => [shown]);
  }

  #drawQuestion(message) {
    fill(this.#parts.body, message.text, () => [message.text]);
    const { status, error, retryAt } = message;
    fill(this.#parts.after, [status, error, retryAt], () =>
      status === "unsent" ? [this.#problem(error || t("error_generic"), message)] : [],
    );
  }

  #drawAnswer(message) {
    const writing = message.status === "generating";
    setAttribute(this.element, "aria-busy", writing ? "true" : null);
    this.element.classList.toggle("message--abstained", message.abstained);
    this.element.classList.toggle("message--writing", writing && message.text !== "");
    this.#drawBefore(message, writing);
    this.#drawText(message, writing);
    this.#drawAfter(message, writing);
  }

  #drawBefore(message, writing) {
    const quoting = message.strategy === "extractive" || (writing && this.quotes);
    const shownQuoting = quoting && !message.abstained && message.text !== "";
    const absent = ["model_unavailable", "window_too_small"].includes(message.notice);
    const waiting = writing && !message.text;
    fill(this.#parts.before, [shownQuoting, absent, waiting, message.position, message.abstained], () => [
      message.abstained ? notice("abstained", "help", t("abstained_title")) : null,
      absent ? notice("model-unavailable", "warning", t("notice_model_unavailable")) : null,
      message.notice === "words_only" ? notice("words-only", "warning", t("notice_words_only")) : null,
      shownQuoting ? notice("quoting-notice", "quote", t("notice_quoting")) : null,
      waiting ? waitingNode(message.position) : null,
    ]);
  }

  #drawText(message, writing) {
    const sources = new Map(message.sources.map((source) => [source.n, source]));
    // A number whose source is not known (yet) stays hidden while writing, and is plain text once the answer is done.
    const cite = (n) => {
      const source = sources.get(n);
      return source ? citationLink(message.id, source) : writing ? "" : null;
    };
    const known = message.sources.map((source) => `${source.n} ${source.title}`).join("|");
    const wanted = blocks(writing ? settled(message.text) : message.text).map((block) => {
      const cites = block.lines.some((line) => line.includes("["));
      return { block, key: JSON.stringify([block, cites && [known, writing]]) };
    });
    while (this.#blocks.length > wanted.length) this.#blocks.pop().node.remove();
    wanted.forEach(({ block, key }, index) => {
      const current = this.#blocks[index];
      if (current?.key === key) return;
      const node = blockNode(block, cite);
      if (current) current.node.replaceWith(node);
      else this.#parts.body.append(node);
      this.#blocks[index] = { key, node };
    });
  }

  #drawAfter(message, writing) {
    const { status, error, abstained, contact, choices, related } = message;
    const sources = writing || abstained ? [] : message.sources;
    fill(this.#parts.after, [status, error, abstained, contact, sources, choices, related], () => {
      this.#parts.thumbs = null;
      return [
        choices.length ? this.#suggested("choices", t("choose"), choices) : null,
        abstained && contact ? contactCard(contact) : null,
        abstained && related.length ? this.#suggested("related", t("related_title"), related) : null,
        status === "stopped" ? notice("stopped", "stop", t("answer_stopped")) : null,
        status === "failed" ? this.#problem(error || t("answer_failed"), message) : null,
        sources.length ? sourceList(message.id, sources) : null,
        RATED.includes(status) ? this.#toolbar(message) : null,
      ];
    });
    this.#drawThumbs(message);
  }

  /** Texts that can be asked with one press. */
  #suggested(test, label, texts) {
    const ask = (text) => ({ click: () => this.#actions.ask(text) });
    return el(
      "div",
      { class: "suggested", role: "group", "aria-label": label, "data-test": test },
      el("p", { class: "suggested__title" }, label),
      ...texts.map((text) => el("button", { type: "button", class: "button button--quiet", on: ask(text) }, text)),
    );
  }

  #toolbar(message) {
    const thumb = (value, name, label) =>
      el(
        "button",
        {
          type: "button",
          class: "tool",
          "aria-label": label,
          title: label,
          "data-test": name,
          "data-value": value,
          on: { click: () => this.#actions.rate(message, message.feedback === value ? 0 : value) },
        },
        icon(name),
      );
    this.#parts.thumbs = [thumb(1, "thumbs-up", t("thumbs_up")), thumb(-1, "thumbs-down", t("thumbs_down"))];
    return el(
      "div",
      { class: "toolbar", role: "group", "aria-label": t("answer_actions") },
      ...this.#parts.thumbs,
      navigator.clipboard ? this.#copyButton(message) : null,
    );
  }

  #drawThumbs(message) {
    for (const button of this.#parts.thumbs ?? []) {
      setAttribute(button, "aria-pressed", String(Number(button.dataset.value) === message.feedback));
    }
  }

  #copyButton(message) {
    const copy = async () => {
      const list = message.sources.map((source) => {
        const address = webAddress(source.url);
        return `[${source.n}] ${source.title}${address ? ` – ${address}` : ""}`;
      });
      const text = [plain(message.text, { markers: true }), list.join("\n")].filter(Boolean).join("\n\n");
      try {
        await navigator.clipboard.writeText(text);
        this.#actions.announce(t("copied"));
        button.replaceChildren(icon("check"));
        setTimeout(() => button.replaceChildren(icon("copy")), 2000);
      } catch {
        this.#actions.announce(t("copy_failed"));
      }
    };
    const label = t("copy_answer");
    const button = el(
      "button",
      { type: "button", class: "tool", "aria-label": label, title: label, "data-test": "copy", on: { click: copy } },
      icon("copy"),
    );
    return button;
  }

  /** What went wrong, and the way to try again: not before the time the server asked for. */
  #problem(text, message) {
    const wait = Math.max(0, (message.retryAt || 0) - Date.now());
    const button = el(
      "button",
      {
        type: "button",
        class: "button button--quiet",
        disabled: wait > 0,
        "data-test": "retry",
        on: { click: () => this.#actions.retry(message) },
      },
      icon("again"),
      t("try_again"),
    );
    clearTimeout(this.#timer);
    if (wait > 0) this.#timer = setTimeout(() => setAttribute(button, "disabled", false), wait);
    return el(
      "div",
      { class: "problem", "data-test": "message-error" },
      el("p", { class: "problem__text" }, icon("warning"), el("span", {}, text)),
      button,
    );
  }
}

/** Puts new children into `node`, but only where `key` says that they differ from those it has. */
function fill(node, key, children) {
  const text = JSON.stringify(key);
  if (drawn.get(node) === text) return;
  drawn.set(node, text);
  node.replaceChildren(...children().filter((child) => child !== null));
}

const drawn = new WeakMap();

function notice(test, drawing, text) {
  return el("p", { class: `notice notice--${test}`, "data-test": test }, icon(drawing), el("span", {}, text));
}

function waitingNode(position) {
  const dots = el("span", { class: "dots", "aria-hidden": "true" }, el("i"), el("i"), el("i"));
  return el("p", { class: "waiting", "data-test": "waiting" }, dots, el("span", {}, position > 1 ? t("queued", { position }) : t("looking")));
}

function contactCard({ name, url, email }) {
  const address = webAddress(url);
  const mail = mailAddress(email);
  const title = name || t("contact_fallback");
  return el(
    "div",
    { class: "contact", "data-test": "contact" },
    el("p", { class: "contact__title" }, t("contact_title")),
    el("p", {}, address ? outward(address, title) : title),
    mail ? el("p", {}, el("a", { href: mail }, email)) : null,
  );
}
