// The visitor's consent and the token that stands for it.

export class SessionRefused extends Error {
  constructor(status, detail = "") {
    super(detail || `session refused: ${status}`);
    this.status = status;
    this.detail = detail;
  }
}

export class Session {
  #url;
  #language;
  #store;
  #renewing = null;

  constructor({ url, language, store }) {
    this.#url = url;
    this.#language = language;
    this.#store = store;
  }

  get agreed() {
    return this.#store.session !== null;
  }

  /** The visitor pressed the button. */
  async agree() {
    await this.#request({ consent: true, language: this.#language });
  }

  /** A token the server should take: the stored one, or a new one if that is over or for another language. */
  async token() {
    const session = this.#store.session;
    const current = session && session.expiresAt > Date.now() && session.language === this.#language;
    return current ? session.token : this.renew();
  }

  /** A new token for the same visitor; for a new visitor where the server no longer knows the old token. */
  async renew() {
    this.#renewing ??= this.#renew().finally(() => {
      this.#renewing = null;
    });
    await this.#renewing;
    return this.#store.session.token;
  }

  async #renew() {
    const body = { consent: true, language: this.#language };
    try {
      await this.#request({ ...body, token: this.#store.session?.token });
    } catch (error) {
      if (!(error instanceof SessionRefused) || ![400, 401, 403, 422].includes(error.status)) throw error;
      await this.#request(body);
    }
  }

  async #request(body) {
    const response = await fetch(this.#url, {
      method: "POST",
      credentials: "same-origin",
      headers: { "Content-Type": "application/json", Accept: "application/json" },
      body: JSON.stringify(body),
    });
    if (!response.ok) {
      const problem = await response.json().catch(() => null);
      throw new SessionRefused(response.status, typeof problem?.detail === "string" ? problem.detail : "");
    }
    const { token, expires_in: seconds } = await response.json();
    const life = Math.max(30, Number(seconds) || 3600) * 1000;
    this.#store.session = { token, expiresAt: Date.now() + life * 0.95, language: this.#language };
  }
}
