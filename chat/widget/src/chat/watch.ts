// Looks after what is awaited and does not come: who wrote an answer may have died.

/** ms of silence after which it is asked what has become of it. */
const SILENCE = 3_000;

export class Watch {
  #timer: ReturnType<typeof setTimeout> | undefined;
  #silence = SILENCE;
  #ask: () => void;

  constructor(ask: () => void) {
    this.#ask = ask;
  }

  heard(): void {
    this.#silence = SILENCE;
  }

  /** Asks after so many ms; without a word, less and less often. */
  begin(ms = this.#silence): void {
    this.stop();
    this.#timer = setTimeout(() => {
      this.#silence *= 2;
      this.#ask();
    }, ms);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
