// What offices reply, and answers that were wished for: read aloud once seen, and a sign on the launcher until then.

import type { CaseView } from "../protocol.ts";
import type { Conversation } from "../state/conversation.ts";
import { spoken } from "../text/sentences.ts";
import { t } from "../words/words.ts";
import type { ChatParts } from "./parts.ts";
import type { Screen } from "./screen.ts";

/** ms after the expected time: an office may be late, and may write again. */
const LISTENED_FOR = 14 * 24 * 3_600_000;

interface Around {
  conversation: Conversation;
  screen: Screen;
}

export class Replies {
  #store: ChatParts["store"];
  #around: () => Around;
  /** An office that replied in another conversation, which was not said yet. */
  #elsewhere: CaseView | null = null;
  /** An answer was complete while nobody saw the chat. */
  #answered = false;

  constructor(store: ChatParts["store"], around: () => Around) {
    this.#store = store;
    this.#around = around;
  }

  /** Says what this browser has not shown yet; `lead`: and leads there. */
  tell({ lead = false } = {}): void {
    const { conversation, screen } = this.#around();
    const { cases } = conversation;
    const fresh = cases.flatMap((one) => this.#freshIn(one).map((words) => ({ ...words, about: one })));
    this.#listenFor(cases);
    this.#answered &&= !screen.isSeen;
    const are = fresh.length > 0 || this.#elsewhere !== null || this.#answered;
    screen.showNews(are && !screen.isSeen);
    if (!screen.isSeen) return;
    for (const { id, text, about } of fresh) {
      this.#shown(id);
      const lead = isWish(about) ? "" : `${t("announce_reply", { office: officeOf(about) })} `;
      screen.announce(lead + spoken(text));
    }
    const last = fresh.at(-1);
    if (last && lead) screen.toCase(last.about.id);
    if (this.#elsewhere) screen.hint(newsOf(this.#elsewhere));
    this.#elsewhere = null;
  }

  /** An answer is complete. */
  answered(): void {
    this.#answered = true;
    this.tell();
  }

  /** A question of another conversation changed. */
  heardElsewhere(one: CaseView): void {
    const last = this.#freshIn(one).at(-1);
    if (!last) return;
    this.#shown(last.id);
    this.#elsewhere = one;
    this.tell();
  }

  #listenFor(cases: readonly CaseView[]): void {
    const dues = cases.filter(({ state }) => state !== "closed").map(({ reply_due: due, opened_at: at }) => Date.parse(due || at));
    const until = Math.max(...dues) + LISTENED_FOR;
    if (until > this.#store.listensUntil) this.#store.listensUntil = until;
  }

  #freshIn({ messages }: CaseView): CaseView["messages"] {
    return messages.filter(({ by, id }) => by !== "student" && id > this.#store.shownReply);
  }

  #shown(id: number): void {
    this.#store.shownReply = Math.max(id, this.#store.shownReply);
  }
}

function newsOf(one: CaseView): string {
  return isWish(one) ? t("hint_told_elsewhere") : t("hint_replied_elsewhere", { office: officeOf(one) });
}

/** No office has it: the visitor waits to be told of an answer, or was. */
export function isWish({ state }: CaseView): boolean {
  return state === "watching" || state === "told";
}

/** The office's name, also where it is there no more. */
export function officeOf({ office }: CaseView): string {
  return office || t("case_office");
}
