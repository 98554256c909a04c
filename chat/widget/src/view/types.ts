// What the list, a message and its answer tell each other.

import type { ContactKind, InPlainLanguage, Reason } from "../protocol.ts";
import type { Message } from "../state/message.ts";
import type { CaseActions } from "./case_card.ts";

export interface MessageActions {
  ask(text: string): void;
  retry(message: Message): void;
  /** Looks up what was taken for a cry for help. */
  askAnyway(help: Message): void;
  edit(message: Message): void;
  /** Answers anew, in the place of this answer. */
  regenerate(answer: Message): void;
  /** False where it could not be sent. */
  rate(message: Message, value: -1 | 0 | 1, reasons?: Reason[], comment?: string): boolean;
  /** The visitor went to a contact that this answer names. */
  useContact(answer: Message, kind: ContactKind): void;
  /** Leaves the question of this answer with an office. */
  askPerson(answer: Message): void;
  /** Wishes to be told of a better answer. Raises Problem. */
  wish(answer: Message): Promise<void>;
  /** An answer in plain language. Raises Problem. */
  plain(answer: number): Promise<InPlainLanguage>;
  /** A date of an answer as a file for the calendar. Raises Problem. */
  remember(answer: number, begin: string): Promise<void>;
  announce(text: string): void;
}

export interface MessagePosition {
  /** The last answer of the conversation: its choices can still be taken, or it can be declined. */
  lastAnswer: boolean;
  /** The last question, while nothing is being answered: it can be changed. */
  lastQuestion: boolean;
  /** The question of this answer was left with an office: what comes of it stands below. */
  handedOver: boolean;
  /** The visitor wished to be told of a better answer: the wish stands below. */
  wished: boolean;
}

export interface MessageOptions {
  name: string;
  /** There is a language model; else pages are quoted. */
  writes: boolean;
  /** A question can be left with an office. */
  offices: boolean;
  /** Replies can be sent by e-mail. */
  mails: boolean;
  actions: MessageActions;
  cases: CaseActions;
}
