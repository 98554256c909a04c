// SSE as a line: events come over one long response, frames go as requests.

import type { Ask, ClientFrame, ErrorEvent, Snapshot } from "../protocol.ts";
import { Http, Problem } from "./http.ts";
import type { Line, LineOptions } from "./line.ts";
import { isRecord } from "./shapes.ts";
import { readEvents } from "./sse.ts";

const API = "/api/v1";

export class StreamLine implements Line {
  #http: Http;
  #options: LineOptions;
  #token = "";
  #opened = false;
  #ended = false;
  #requests = new AbortController();
  #events = new AbortController();
  #listening = "";

  constructor(http: Http, options: LineOptions) {
    this.#http = http;
    this.#options = options;
    void this.#begin();
  }

  send(frame: ClientFrame): boolean {
    if (this.#ended || !this.#opened) return false;
    void this.#carry(frame);
    return true;
  }

  close(): void {
    this.#ended = true;
    this.#requests.abort();
    this.#events.abort();
  }

  async #begin(): Promise<void> {
    try {
      const { token, ...resume } = await this.#options.greet();
      this.#token = token;
      if (this.#ended) return;
      this.#opened = true;
      this.#options.onOpen();
      await this.#carry(resume);
    } catch {
      this.#lost();
    }
  }

  async #carry(frame: ClientFrame): Promise<void> {
    try {
      await this.#request(frame);
    } catch (error) {
      if (this.#ended) return;
      // Whatever the service did not say itself is a broken line.
      if (error instanceof Problem && error.status > 0 && error.status < 502)
        this.#options.onFrame(refusal(error, frame));
      else this.#lost();
    }
  }

  async #request(frame: ClientFrame): Promise<void> {
    const token = this.#token;
    const { signal } = this.#requests;
    switch (frame.type) {
      case "resume":
        await this.#resume(frame.conversation, frame.after ?? null);
        break;
      case "ask":
        await this.#ask(frame);
        break;
      case "stop":
        await this.#http.send(`${API}/messages/${frame.message}/stop`, { method: "POST", token, signal });
        break;
      case "feedback": {
        const { value, reasons = [], comment = "" } = frame;
        const body = { value, reasons, comment };
        await this.#http.send(`${API}/messages/${frame.message}/feedback`, { method: "PUT", body, token, signal });
        break;
      }
      case "rating": {
        const body = { stars: frame.stars };
        await this.#http.send(`${API}/conversations/${frame.conversation}/rating`, {
          method: "PUT",
          body,
          token,
          signal,
        });
        break;
      }
      case "contact":
        await this.#http.send(`${API}/messages/${frame.message}/contacts`, {
          method: "POST",
          body: { kind: frame.kind },
          token,
          signal,
        });
        break;
      case "language":
        // Each request names its language.
        break;
    }
  }

  /** The saved conversation, or what came after `after`; and from there on all that happens in it. */
  async #resume(conversation: string, after: number | null): Promise<void> {
    this.#events.abort();
    this.#events = new AbortController();
    this.#listening = "";
    let from = after;
    if (from === null) {
      const snapshot = await this.#snapshot(conversation);
      if (snapshot === null) {
        this.#options.onFrame(empty(conversation));
        return;
      }
      this.#options.onFrame(snapshot);
      from = snapshot.last_seq ?? 0;
    }
    void this.#listen(conversation, from);
  }

  async #snapshot(conversation: string): Promise<Snapshot | null> {
    const { signal } = this.#requests;
    try {
      const response = await this.#http.send(`${API}/conversations/${conversation}`, { token: this.#token, signal });
      const body: unknown = await response.json();
      return { ...empty(conversation), ...(isRecord(body) ? body : {}), type: "conversation", conversation, seq: null };
    } catch (error) {
      // Nothing was said in it yet: its id is this browser's.
      if (error instanceof Problem && error.status === 404) return null;
      throw error;
    }
  }

  async #listen(conversation: string, after: number): Promise<void> {
    const { signal } = this.#events;
    this.#listening = conversation;
    try {
      const path = `${API}/conversations/${conversation}/events?after=${after}`;
      const sending = { token: this.#token, accept: "text/event-stream", signal };
      await readEvents(await this.#http.send(path, sending), (frame) => this.#hear(frame));
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof Problem && error.status > 0) {
        this.#listening = "";
        this.#options.onFrame(refusal(error, { type: "resume", conversation, after }));
        return;
      }
    }
    // A stream that ends is a line that is lost: the next one goes on where this one stood.
    if (!signal.aborted) this.#lost();
  }

  async #ask({ type: _type, conversation, ...body }: Ask): Promise<void> {
    const sending = { token: this.#token, accept: "text/event-stream", signal: this.#requests.signal };
    const path = `${API}/conversations/${conversation}/ask`;
    const response = await this.#http.send(path, { method: "POST", body, ...sending });
    await readEvents(response, (frame) => this.#hear(frame));
    // The conversation is there now: what other tabs do in it is to be seen here too.
    if (!this.#ended && this.#listening !== conversation) await this.#resume(conversation, null);
  }

  #hear(frame: unknown): void {
    if (!this.#ended) this.#options.onFrame(frame);
  }

  #lost(): void {
    if (this.#ended) return;
    this.close();
    this.#options.onLost(this.#opened);
  }
}

function empty(conversation: string): Snapshot {
  return { type: "conversation", seq: null, conversation, messages: [], last_seq: null, title: "", stars: null };
}

/** What the service said about a request, as it would say it about the frame. */
function refusal({ status, code, detail, retryAfter }: Problem, frame: ClientFrame): ErrorEvent {
  const event: ErrorEvent = {
    type: "error",
    seq: null,
    code: status === 401 ? "session_expired" : code,
    detail,
    retry_after: retryAfter,
  };
  if ("client_id" in frame) event.client_id = frame.client_id;
  if ("message" in frame) event.message = frame.message;
  if ("conversation" in frame) event.conversation = frame.conversation;
  return event;
}
