// The line to the service: a websocket, or SSE where a proxy breaks websockets. Both carry the same frames and events.

import type { ClientFrame, Resume } from "../protocol.ts";

export type LineState = "connecting" | "open" | "waiting";

export interface LineEvents {
  /** The first frame; fails where no session can be had. */
  greet(): Promise<Resume & { token: string }>;
  onFrame(frame: unknown): void;
  onState(state: LineState): void;
}

/** One way to be connected. It ends once, with onLost, and is not used again. */
export interface Line {
  send(frame: ClientFrame): boolean;
  close(): void;
}

export interface LineOptions {
  origin: string;
  greet: LineEvents["greet"];
  onOpen(): void;
  onFrame(frame: unknown): void;
  /** `worked` says whether anything ever came over it. */
  onLost(worked: boolean): void;
}
