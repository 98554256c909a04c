// What was typed and the service does not have: in the field, behind it, or on its way. None of it is lost.

import type { Conversation } from "../state/conversation.ts";
import type { Message } from "../state/message.ts";
import type { ChatParts } from "./parts.ts";
import type { Screen } from "./screen.ts";

const BETWEEN = "\0";
const NOTHING = { key: "", text: "" };

export class Drafts {
  #store: ChatParts["store"];
  #screen: () => Screen;
  /** The question that was sent last; `text` is empty once it stands in the field again. */
  #sent: Pick<Message, "key" | "text"> = NOTHING;
  /** What stood in the field before an edit. The last of it comes back when the field is empty. */
  #behind: string[] = [];

  constructor(store: ChatParts["store"], screen: () => Screen) {
    this.#store = store;
    this.#screen = screen;
  }

  /** As this tab was left: what was on its way stands in the field, until it turns out to have arrived. */
  begin(): void {
    const [typed = "", key = "", sent = "", ...behind] = this.#store.draft.split(BETWEEN);
    this.#sent = { key, text: "" };
    this.#behind = sent && typed ? [...behind, typed] : behind;
    if (sent || typed) this.#screen().text = sent || typed;
  }

  /** The field has changed. */
  typed(): void {
    const before = this.#screen().text ? undefined : this.#behind.pop();
    if (before) this.#screen().text = before;
    else this.#keep();
  }

  /** Puts `text` into the field, to be changed; true where what stood there waits for its turn. */
  put(text: string): boolean {
    const there = this.#screen().text;
    if (there.trim() && there.trim() !== text) this.#behind.push(there);
    this.#sent = NOTHING;
    this.#screen().text = text;
    return this.#behind.length > 0;
  }

  sent({ key, text }: Message): void {
    this.#sent = { key, text };
    this.#keep();
    if (this.#screen().text.trim() === text) this.#screen().text = "";
  }

  /** The service did not take the question. */
  giveBack({ key, text }: Message): void {
    if (this.#screen().text.trim()) return;
    this.#sent = { key, text: "" };
    this.#screen().text = text;
  }

  /** What the service has need not be kept here. A question being edited has another key, and stays. */
  settle(conversation: Conversation): void {
    const question = conversation.findQuestion(this.#sent.key);
    if (!question?.id) return;
    this.#sent = NOTHING;
    this.#keep();
    if (this.#screen().text.trim() === question.text) this.#screen().text = "";
  }

  #keep(): void {
    const all = [this.#screen().text, this.#sent.key, this.#sent.text, ...this.#behind];
    this.#store.draft = all.join(BETWEEN).replace(/\0+$/, "");
  }
}
