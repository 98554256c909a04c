// The messages, and where the list is scrolled to.

import { isWish } from "../chat/replies.ts";
import type { CaseView } from "../protocol.ts";
import type { Conversation } from "../state/conversation.ts";
import { t } from "../words/words.ts";
import { CaseCard } from "./case_card.ts";
import { el, onceAFrame } from "./dom.ts";
import { Follower } from "./follower.ts";
import { MessageView } from "./message_view.ts";
import type { MessageOptions } from "./types.ts";

const LAID_OUT = 6;
/** So many messages stand in one box: a browser looks at each box in every frame, also where it lays nothing of it out. */
const TOGETHER = 10;
/** So many messages are drawn at once; the older ones of a long conversation follow in the next moments. */
const BATCH = 40;

export class MessageList {
  readonly element = el("div", {
    class: "messages",
    role: "list",
    "data-test": "messages",
    "aria-label": t("conversation"),
    hidden: true,
  });
  readonly follower: Follower;
  #views = new Map<string, MessageView>();
  #cards = new Map<number, CaseCard>();
  /** From the first message on, drawn or not. */
  #boxes: HTMLElement[] = [];
  #conversation: Conversation | null = null;
  /** How many of the first messages are not drawn yet. */
  #undrawn = 0;
  /** How much was said when it was drawn last. */
  #said = 0;
  #timer = 0;
  #options: MessageOptions;
  #onDrawn: (conversation: Conversation) => void;
  #draw = onceAFrame(() => this.drawNow());

  /** `box` scrolls the list; `onDrawn` draws what stands around it. */
  constructor(box: HTMLElement, options: MessageOptions, onDrawn: (conversation: Conversation) => void) {
    this.#options = options;
    this.#onDrawn = onDrawn;
    this.follower = new Follower(box, this.element);
  }

  show(conversation: Conversation): void {
    if (conversation !== this.#conversation) {
      this.#conversation = conversation;
      this.#views.clear();
      this.#cards.clear();
      this.#boxes = [];
      this.element.replaceChildren();
      this.follower.toEnd();
    }
    this.#draw();
  }

  toEnd(): void {
    this.drawNow();
    this.follower.toEnd();
  }

  /** To a question that was left with an office: to what was said last, or with `focus` to its heading. */
  toCase(id: number, { focus = false } = {}): void {
    this.drawNow();
    const card = this.#cards.get(id);
    this.follower.hold((focus ? card?.focus() : card?.showLast()) ?? null);
  }

  drawNow(): void {
    const conversation = this.#conversation;
    if (!conversation) return;
    const total = conversation.messages.length;
    this.#undrawn = Math.max(0, Math.min(this.#views.size ? this.#undrawn : Infinity, total - BATCH));
    const messages = conversation.messages.slice(this.#undrawn);
    this.element.hidden = total === 0;
    const keys = new Set(messages.map((message) => message.key));
    for (const [key, view] of this.#views) {
      if (keys.has(key)) continue;
      view.element.remove();
      this.#views.delete(key);
    }
    const { cases } = conversation;
    for (const [id, card] of this.#cards) {
      if (cases.some((one) => one.id === id)) continue;
      card.element.remove();
      this.#cards.delete(id);
    }
    const known = new Set(conversation.messages.map(({ id }) => id));
    const parts: HTMLElement[][] = [];
    const lastAnswer = messages.at(-1);
    const lastQuestion = conversation.busy ? null : conversation.lastQuestion;
    messages.forEach((message, index) => {
      const view = this.#viewOf(message.key, () => new MessageView(message, this.#options));
      const below = cases.filter(({ about }) => about !== null && about === message.id);
      view.draw(message, {
        lastAnswer: message === lastAnswer,
        lastQuestion: message === lastQuestion,
        handedOver: below.some((one) => !isWish(one)),
        wished: below.some(isWish),
      });
      const part = (parts[Math.floor((this.#undrawn + index) / TOGETHER)] ??= []);
      part.push(view.element, ...below.map((one) => this.#drawCard(one)));
    });
    const others = cases.filter(({ about }) => about === null || !known.has(about));
    (parts.at(-1) ?? (parts[0] = [])).push(...others.map((one) => this.#drawCard(one)));
    this.#place(parts, total);
    this.#onDrawn(conversation);
    const question = conversation.lastQuestion;
    // Read from its beginning: more of an answer moves nothing of it that is in sight.
    const keep = (question && this.#views.get(question.key)?.element) ?? null;
    const said = amountOf(conversation);
    this.follower.grew({ keep, isNew: said > this.#said });
    this.#said = said;
    if (this.#undrawn === 0 || this.#timer) return;
    this.#timer = window.setTimeout(() => {
      this.#timer = 0;
      this.#undrawn = Math.max(0, this.#undrawn - BATCH);
      this.drawNow();
    });
  }

  #place(parts: HTMLElement[][], total: number): void {
    for (const box of this.#boxes.splice(parts.length)) box.remove();
    parts.forEach((part, index) => {
      const box = (this.#boxes[index] ??= el("div", { class: "messages__part", role: "none" }));
      // Of a long conversation only what is near the eye is laid out; its end always is.
      box.classList.toggle("messages__part--old", (index + 1) * TOGETHER <= total - LAID_OUT);
      keepInOrder(box, part);
    });
    keepInOrder(this.element, this.#boxes.filter(Boolean));
  }

  #drawCard(one: CaseView): HTMLElement {
    const card = this.#cards.get(one.id) ?? new CaseCard(one, this.#options);
    this.#cards.set(one.id, card);
    card.draw(one);
    return card.element;
  }

  #viewOf(key: string, make: () => MessageView): MessageView {
    let view = this.#views.get(key);
    if (!view) {
      view = make();
      this.#views.set(key, view);
    }
    return view;
  }
}

function keepInOrder(parent: Element, wanted: readonly Element[]): void {
  wanted.forEach((element, index) => {
    const there = parent.children[index];
    if (there !== element) parent.insertBefore(element, there ?? null);
  });
}

/** Grows with each message and with each word of it, not with what is drawn around them. */
function amountOf({ messages, cases }: Conversation): number {
  const said = messages.reduce((sum, { text, office }) => sum + 1 + text.length + (office ? 1 : 0), 0);
  return said + cases.reduce((sum, one) => sum + 1 + one.messages.length, 0);
}
