// A websocket as a line.

import type { ClientFrame } from "../protocol.ts";
import type { Line, LineOptions } from "./line.ts";

const ANSWER_WITHIN = 12_000;

export class SocketLine implements Line {
  #socket: WebSocket | null = null;
  #options: LineOptions;
  #heard = false;
  #ended = false;
  #timer = 0;

  constructor(options: LineOptions) {
    this.#options = options;
    void this.#begin();
  }

  send(frame: ClientFrame): boolean {
    if (this.#ended || this.#socket?.readyState !== WebSocket.OPEN) return false;
    this.#socket.send(JSON.stringify(frame));
    return true;
  }

  close(): void {
    this.#ended = true;
    clearTimeout(this.#timer);
    this.#socket?.close();
  }

  /** The token comes first, however long a slow network takes for it: the service closes sockets that carry none. */
  async #begin(): Promise<void> {
    if ((await this.#greeting()) === null || this.#ended) return;
    this.#timer = window.setTimeout(() => this.#lost(), ANSWER_WITHIN);
    this.#socket = new WebSocket(`${this.#options.origin.replace(/^http/, "ws")}/ws/chat`);
    this.#socket.addEventListener("open", () => void this.#greet());
    this.#socket.addEventListener("message", (event) => this.#hear(event.data));
    this.#socket.addEventListener("close", () => this.#lost());
  }

  /** Names the conversation that is open now: the visitor may have chosen another while the socket opened. */
  async #greet(): Promise<void> {
    const greeting = await this.#greeting();
    if (greeting === null || this.#ended) return;
    this.send(greeting);
    this.#options.onOpen();
  }

  async #greeting(): Promise<Awaited<ReturnType<LineOptions["greet"]>> | null> {
    try {
      return await this.#options.greet();
    } catch {
      // No session: the service cannot be reached, or refuses. The next try comes after a wait.
      this.#lost();
      return null;
    }
  }

  #hear(data: unknown): void {
    if (this.#ended || typeof data !== "string") return;
    this.#heard = true;
    clearTimeout(this.#timer);
    let frame: unknown;
    try {
      frame = JSON.parse(data);
    } catch {
      return;
    }
    this.#options.onFrame(frame);
  }

  #lost(): void {
    if (this.#ended) return;
    this.close();
    this.#options.onLost(this.#heard);
  }
}
