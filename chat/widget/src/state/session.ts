// The visitor's consent and the token that stands for it.

import type { Http } from "../net/http.ts";
import { Problem } from "../net/http.ts";
import type { SessionReply } from "../protocol.ts";
import type { Store } from "./store.ts";

export class Session {
  #http: Http;
  #site: string;
  #store: Store;
  #language: () => string;
  #renewing: Promise<void> | null = null;

  constructor({ http, site, store, language }: { http: Http; site: string; store: Store; language: () => string }) {
    this.#http = http;
    this.#site = site;
    this.#store = store;
    this.#language = language;
  }

  get agreed(): boolean {
    return this.#store.session !== null;
  }

  /** The visitor pressed the button, perhaps in another tab before. Raises Problem. */
  async agree(): Promise<void> {
    if (!this.agreed) await this.#request(null);
  }

  /** A token that the server should take: the stored one, or a new one where that is over. Raises Problem. */
  async token(): Promise<string> {
    const session = this.#store.session;
    if (session && session.expiresAt > Date.now()) return session.token;
    return this.renew();
  }

  /** A new token for the same visitor; for a new visitor where the server no longer knows the old one. */
  async renew(): Promise<string> {
    this.#renewing ??= this.#renew().finally(() => {
      this.#renewing = null;
    });
    await this.#renewing;
    const session = this.#store.session;
    if (!session) throw new Problem(401, "session_required", "");
    return session.token;
  }

  async #renew(): Promise<void> {
    const session = this.#store.session;
    // Erased meanwhile: nobody has agreed any more.
    if (!session) throw new Problem(401, "session_required", "");
    try {
      await this.#request(session.token);
    } catch (error) {
      if (!(error instanceof Problem) || ![400, 401, 422].includes(error.status)) throw error;
      await this.#request(null);
    }
  }

  async #request(token: string | null): Promise<void> {
    const body = { site: this.#site, consent: true, language: this.#language(), ...(token && { token }) };
    const reply = await this.#http.get<SessionReply>("SessionReply", "/api/v1/session", { method: "POST", body });
    const life = Math.max(30, reply.expires_in) * 1000;
    this.#store.session = { token: reply.token, expiresAt: Date.now() + life * 0.95 };
  }
}
