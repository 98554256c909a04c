// What a chat is put together from.

import type { LineEvents } from "../net/line.ts";
import type { ClientFrame } from "../protocol.ts";
import type { Screen } from "./screen.ts";

/** A connection that comes back by itself. */
export interface Line {
  start(): void;
  stop(): void;
  /** Takes another line now. */
  restart(): void;
  /** The service talks sense: the next failure starts with a short wait again. */
  settled(): void;
  send(frame: ClientFrame): boolean;
}

export interface ChatParts {
  connect(events: LineEvents): Line;
  session: { token(): Promise<string>; renew(): Promise<string> };
  store: { conversation: string | null; draft: string; shownReply: number; listensUntil: number };
  screen: Screen;
  online(): boolean;
  /** The visitor's data was erased, here or on another device. */
  erased(): void;
}
