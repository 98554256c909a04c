// All of the visitor's conversations and data, over HTTP. Every call raises Problem.

import type { Http, Sending } from "../net/http.ts";
import { Problem } from "../net/http.ts";
import { expectShape } from "../net/shapes.ts";
import type { ConversationSummary } from "../protocol.ts";

const API = "/api/v1";

export class Library {
  #http: Http;
  #session: { token(): Promise<string>; renew(): Promise<string> };

  constructor(http: Http, session: { token(): Promise<string>; renew(): Promise<string> }) {
    this.#http = http;
    this.#session = session;
  }

  /** Newest first. */
  async conversations(): Promise<ConversationSummary[]> {
    const rows: unknown = await (await this.#send("/conversations")).json();
    if (!Array.isArray(rows)) throw new Problem(0, "malformed", "");
    return rows.map((row) => expectShape<ConversationSummary>("ConversationSummary", row));
  }

  async rename(id: string, title: string): Promise<void> {
    await this.#send(`/conversations/${id}`, { method: "PATCH", body: { title } });
  }

  async delete(id: string): Promise<void> {
    await this.#send(`/conversations/${id}`, { method: "DELETE" });
  }

  async myData(): Promise<Blob> {
    return (await this.#send("/my-data")).blob();
  }

  async erase(): Promise<void> {
    await this.#send("/my-data", { method: "DELETE" });
  }

  async #send(path: string, sending: Sending = {}): Promise<Response> {
    const attempt = (token: string) => this.#http.send(API + path, { ...sending, token });
    try {
      return await attempt(await this.#session.token());
    } catch (error) {
      if (!(error instanceof Problem) || error.status !== 401) throw error;
      return attempt(await this.#session.renew());
    }
  }
}
