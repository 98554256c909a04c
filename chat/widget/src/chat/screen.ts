// What the chat needs to show, and what a visitor can do: the seam between the conversation and the page.

import type { Conversation } from "../state/conversation.ts";
import type { Message } from "../state/message.ts";

export interface Shown {
  conversation: Conversation;
  /** A question can be sent. */
  ready: boolean;
  busy: boolean;
  stopping: boolean;
}

/** Of the connection: "connecting" is the first time, and needs no words. */
export type Standing = "connecting" | "ready" | "reconnecting" | "offline";

export interface Screen {
  /** What stands in the field. */
  text: string;
  show(shown: Shown): void;
  showStanding(standing: Standing): void;
  /** A problem that belongs to no message; null takes it away. */
  showProblem(text: string | null): void;
  hint(text: string): void;
  /** The visitor can see it: the chat is not closed, and the tab in front. */
  readonly isSeen: boolean;
  /** Something is to be read, where the chat is closed. */
  showNews(are: boolean): void;
  toCase(id: number): void;
  focusField(): void;
  toEnd(): void;
  /** Read aloud, not shown. */
  announce(text: string): void;
  /** Reads a growing answer aloud; `done` when nothing more comes. */
  follow(message: Message, done: boolean): void;
}
