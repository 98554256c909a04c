// What the list, a message and its answer tell each other.

import type { Reason } from "../protocol.ts";
import type { Message } from "../state/message.ts";

export interface MessageActions {
  ask(text: string): void;
  retry(message: Message): void;
  /** Looks up what was taken for a cry for help. */
  askAnyway(help: Message): void;
  edit(message: Message): void;
  /** False where it could not be sent. */
  rate(message: Message, value: -1 | 0 | 1, reasons?: Reason[], comment?: string): boolean;
  announce(text: string): void;
}

export interface MessagePosition {
  /** The last answer of the conversation: its choices can still be taken, or it can be declined. */
  lastAnswer: boolean;
  /** The last question, while nothing is being answered: it can be changed. */
  lastQuestion: boolean;
}

export interface MessageOptions {
  name: string;
  /** Pages are quoted: there is no language model. */
  quotes: boolean;
  actions: MessageActions;
}
