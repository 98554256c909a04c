// Questions that were sent and that the service has not taken yet.

const TAKEN_WITHIN = 30_000;

export class Deadlines {
  #timers = new Map<string, ReturnType<typeof setTimeout>>();
  #missed: (clientId: string) => void;

  constructor(missed: (clientId: string) => void) {
    this.#missed = missed;
  }

  get waiting(): string[] {
    return [...this.#timers.keys()];
  }

  begin(clientId: string): void {
    this.met(clientId);
    const miss = () => {
      this.met(clientId);
      this.#missed(clientId);
    };
    this.#timers.set(clientId, setTimeout(miss, TAKEN_WITHIN));
  }

  met(clientId: string): void {
    clearTimeout(this.#timers.get(clientId));
    this.#timers.delete(clientId);
  }

  clear(): void {
    for (const clientId of this.waiting) this.met(clientId);
  }
}
