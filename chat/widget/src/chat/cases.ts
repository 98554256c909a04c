// What the visitor does about questions to offices. All that asks the service raises Problem.

import { newId } from "../ids.ts";
import type { Handover } from "../protocol.ts";
import { CaseDrafts, type CaseDraft } from "./case_drafts.ts";
import type { Chat } from "./chat.ts";
import type { Library } from "./library.ts";

export class Cases {
  #library: Library;
  #drafts: CaseDrafts;
  #chat: () => Chat | null;

  constructor(library: Library, store: { caseDrafts: string }, chat: () => Chat | null) {
    this.#library = library;
    this.#drafts = new CaseDrafts(store);
    this.#chat = chat;
  }

  /** What can be chosen, and what was entered before for this answer. */
  async begin(answer: number): Promise<{ handover: Handover; draft: CaseDraft }> {
    const handover = await this.#library.handover(this.#conversation, answer);
    const { question, shared } = handover;
    const proposed = { clientId: newId(), text: question, shared, email: "" };
    const draft = this.#drafts.read(this.#keyOf(answer)) ?? proposed;
    return { handover, draft };
  }

  keep(answer: number, draft: CaseDraft): void {
    this.#drafts.keep(this.#keyOf(answer), draft);
  }

  /** Leaves the question; gives the case's id. */
  async leave(answer: number, { clientId, text, office = 0, shared = [], email = "" }: CaseDraft): Promise<number> {
    const conversation = this.#conversation;
    const body = { client_id: clientId, office, question: text.trim(), answer, shared, email };
    const left = await this.#library.openCase(conversation, body);
    this.#drafts.drop(`${conversation}/${answer}`);
    this.#chat()?.putCase(conversation, left);
    return left.id;
  }

  /** Wishes to be told of a better answer than this one; gives the wish's id. Pressed again, it is the same wish. */
  async wish(answer: number): Promise<number> {
    const conversation = this.#conversation;
    const made = await this.#library.wish(conversation, { client_id: newId(), answer });
    this.#chat()?.putCase(conversation, made);
    return made.id;
  }

  /** What was typed for the office and not sent. */
  typed(id: number): string {
    return this.#drafts.read(`case-${id}`)?.text ?? "";
  }

  type(id: number, text: string): void {
    const key = `case-${id}`;
    if (text) this.#drafts.keep(key, { clientId: this.#drafts.read(key)?.clientId ?? newId(), text });
    else this.#drafts.drop(key);
  }

  /** Sends what was typed. */
  async write(id: number): Promise<void> {
    const conversation = this.#conversation;
    const draft = this.#drafts.read(`case-${id}`);
    if (!draft) return;
    const written = await this.#library.writeToOffice(id, { client_id: draft.clientId, text: draft.text.trim() });
    this.#drafts.drop(`case-${id}`);
    this.#chat()?.putCase(conversation, written);
  }

  /** Where replies go by e-mail too; empty for nowhere. */
  async setAddress(id: number, email: string): Promise<void> {
    const conversation = this.#conversation;
    this.#chat()?.putCase(conversation, await this.#library.setAddress(id, email));
  }

  async sayHelped(id: number, helped: boolean | null): Promise<void> {
    const conversation = this.#conversation;
    this.#chat()?.putCase(conversation, await this.#library.sayHelped(id, helped));
  }

  async withdraw(id: number): Promise<void> {
    await this.#library.withdrawCase(id);
    this.#drafts.drop(`case-${id}`);
    this.#chat()?.dropCase(id);
  }

  get #conversation(): string {
    return this.#chat()?.conversation.id ?? "";
  }

  #keyOf(answer: number): string {
    return `${this.#conversation}/${answer}`;
  }
}
