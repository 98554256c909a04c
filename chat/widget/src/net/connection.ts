// A line that comes back: it waits longer after each failure, at random so that not all visitors return at once, and
// at once when the browser says that the network or the tab is back. Where websockets fail, SSE takes over.

import type { ClientFrame } from "../protocol.ts";
import type { Http } from "./http.ts";
import type { Line, LineEvents, LineOptions } from "./line.ts";
import { SocketLine } from "./socket_line.ts";
import { StreamLine } from "./stream_line.ts";

const FIRST_WAIT = 500;
const LONGEST_WAIT = 15_000;
const FAILED_OPENS = 2;
const SILENT_TOO_LONG = 45_000;

/** ms to wait after so many failures in a row: between half of it and all, doubling up to a limit. */
export function waitAfter(failures: number, random = Math.random()): number {
  const longest = Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** failures);
  return longest / 2 + (random * longest) / 2;
}

export class Connection {
  #http: Http;
  #events: LineEvents;
  #line: Line | null = null;
  #transport: "socket" | "sse";
  #onlySse: boolean;
  #failedOpens = 0;
  #failures = 0;
  #timer = 0;
  #silence = 0;
  #started = false;

  constructor(http: Http, events: LineEvents, { sse }: { sse: boolean }) {
    this.#http = http;
    this.#events = events;
    this.#onlySse = sse;
    this.#transport = sse ? "sse" : "socket";
    window.addEventListener("online", () => this.#hurry());
    window.addEventListener("offline", () => this.#line && this.#lost(true));
    window.addEventListener("pageshow", () => this.#hurry());
    document.addEventListener("visibilitychange", () => document.hidden || this.#hurry());
  }

  start(): void {
    if (this.#started) return;
    this.#started = true;
    this.#open();
  }

  stop(): void {
    this.#started = false;
    this.#discard();
  }

  /** Drops the line and takes another now: for a token that was refused. */
  restart(): void {
    if (!this.#started) return;
    this.#discard();
    this.#open();
  }

  /** The service is talking sense: the next failure starts with a short wait again. */
  settled(): void {
    this.#failures = 0;
    this.#failedOpens = 0;
  }

  send(frame: ClientFrame): boolean {
    return this.#line?.send(frame) ?? false;
  }

  #open(): void {
    clearTimeout(this.#timer);
    this.#events.onState("connecting");
    const mine = (action: () => void) => {
      if (line === this.#line) action();
    };
    const options: LineOptions = {
      origin: this.#http.origin,
      greet: () => this.#events.greet(),
      onOpen: () => mine(() => this.#events.onState("open")),
      onFrame: (frame) =>
        mine(() => {
          this.#listen();
          this.#events.onFrame(frame);
        }),
      onLost: (worked) => mine(() => this.#lost(worked)),
    };
    const line: Line = this.#transport === "sse" ? new StreamLine(this.#http, options) : new SocketLine(options);
    this.#line = line;
    this.#listen();
  }

  /** A service that is there says something from time to time; if it does not, the line is dead. */
  #listen(): void {
    clearTimeout(this.#silence);
    this.#silence = window.setTimeout(() => this.#lost(true), SILENT_TOO_LONG);
  }

  #discard(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#silence);
    const line = this.#line;
    this.#line = null;
    line?.close();
  }

  #lost(worked: boolean): void {
    this.#discard();
    if (!worked) this.#chooseTransport();
    this.#timer = window.setTimeout(() => this.#open(), waitAfter(this.#failures));
    this.#failures += 1;
    this.#events.onState("waiting");
  }

  /** Two websockets in a row over which nothing came: SSE. If that fails too, the service is away, and either may be next. */
  #chooseTransport(): void {
    if (this.#onlySse || !navigator.onLine) return;
    this.#failedOpens += 1;
    if (this.#transport === "sse") this.#failedOpens = 0;
    this.#transport = this.#failedOpens >= FAILED_OPENS ? "sse" : "socket";
  }

  #hurry(): void {
    if (this.#started && !this.#line) this.#open();
  }
}
