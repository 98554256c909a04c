// A websocket as a line.

import type { ClientFrame } from "../protocol.ts";
import type { Line, LineOptions } from "./line.ts";

const ANSWER_WITHIN = 12_000;

export class SocketLine implements Line {
  #socket: WebSocket;
  #options: LineOptions;
  #heard = false;
  #ended = false;
  #timer: number;

  constructor(options: LineOptions) {
    this.#options = options;
    this.#timer = window.setTimeout(() => this.#lost(), ANSWER_WITHIN);
    this.#socket = new WebSocket(`${options.origin.replace(/^http/, "ws")}/ws/chat`);
    this.#socket.addEventListener("open", () => void this.#greet());
    this.#socket.addEventListener("message", (event) => this.#hear(event.data));
    this.#socket.addEventListener("close", () => this.#lost());
  }

  send(frame: ClientFrame): boolean {
    if (this.#ended || this.#socket.readyState !== WebSocket.OPEN) return false;
    this.#socket.send(JSON.stringify(frame));
    return true;
  }

  close(): void {
    this.#ended = true;
    clearTimeout(this.#timer);
    this.#socket.close();
  }

  async #greet(): Promise<void> {
    try {
      this.send(await this.#options.greet());
    } catch {
      // No session: the service cannot be reached, or refuses. The next try comes after a wait.
      this.#lost();
      return;
    }
    if (!this.#ended) this.#options.onOpen();
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
