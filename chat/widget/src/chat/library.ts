// The visitor's conversations, questions to offices and data, over HTTP. Every call raises Problem.

import type { Http, Sending } from "../net/http.ts";
import { Problem } from "../net/http.ts";
import { expectShape } from "../net/shapes.ts";
import type { CaseView, ConversationSummary, Handover, InPlainLanguage } from "../protocol.ts";

const API = "/api/v1";

/** What is said to an office; the same `client_id` again says nothing twice. */
interface ToOffice {
  client_id: string;
}

export interface CaseOpened extends ToOffice {
  office: number;
  question: string;
  answer: number;
  shared: readonly number[];
  email: string;
}

export interface CaseMessage extends ToOffice {
  text: string;
}

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

  /** What the visitor chooses from before leaving a question with an office; `answer` did not help. */
  async handover(conversation: string, answer: number): Promise<Handover> {
    return this.#read("Handover", `/conversations/${conversation}/handover?answer=${answer}`);
  }

  async openCase(conversation: string, body: CaseOpened): Promise<CaseView> {
    return this.#read("CaseView", `/conversations/${conversation}/cases`, { method: "POST", body });
  }

  /** `answer` is the one that was none, or did not help. */
  async wish(conversation: string, body: { client_id: string; answer: number }): Promise<CaseView> {
    return this.#read("CaseView", `/conversations/${conversation}/wishes`, { method: "POST", body });
  }

  async writeToOffice(id: number, body: CaseMessage): Promise<CaseView> {
    return this.#read("CaseView", `/cases/${id}/messages`, { method: "POST", body });
  }

  async setAddress(id: number, email: string): Promise<CaseView> {
    return this.#read("CaseView", `/cases/${id}/email`, { method: "PUT", body: { email } });
  }

  async sayHelped(id: number, helped: boolean | null): Promise<CaseView> {
    return this.#read("CaseView", `/cases/${id}/helped`, { method: "PUT", body: { helped } });
  }

  async withdrawCase(id: number): Promise<void> {
    await this.#send(`/cases/${id}`, { method: "DELETE" });
  }

  async myData(): Promise<Blob> {
    return (await this.#send("/my-data")).blob();
  }

  /** A conversation as a page to keep. */
  async file(conversation: string): Promise<Blob> {
    return (await this.#send(`/conversations/${conversation}/file`)).blob();
  }

  /** An answer in plain language. */
  async plain(answer: number): Promise<InPlainLanguage> {
    return this.#read("InPlainLanguage", `/messages/${answer}/plain`, { method: "POST", body: {} });
  }

  /** What an answer names that begins then, for the calendar. */
  async calendar(answer: number, begin: string): Promise<Blob> {
    return (await this.#send(`/messages/${answer}/calendar?begin=${encodeURIComponent(begin)}`)).blob();
  }

  async erase(): Promise<void> {
    await this.#send("/my-data", { method: "DELETE" });
  }

  async #read<T>(shape: string, path: string, sending: Sending = {}): Promise<T> {
    const value: unknown = await (await this.#send(path, sending)).json();
    return expectShape<T>(shape, value);
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
