// The browser's way back closes what was opened over the page before it leaves the page.

export class WayBack {
  #close: (() => void) | null = null;
  /** Entries of the history that this chat took back itself. */
  #own = 0;

  constructor() {
    window.addEventListener("popstate", () => {
      if (this.#own) {
        this.#own -= 1;
        return;
      }
      const close = this.#close;
      this.#close = null;
      close?.();
    });
  }

  /** Something was opened, which `close` closes. */
  opened(close: () => void): void {
    if (!this.#close) history.pushState(history.state, "");
    this.#close = close;
  }

  /** It was closed in another way. */
  closed(): void {
    if (!this.#close) return;
    this.#close = null;
    this.#own += 1;
    history.back();
  }
}
