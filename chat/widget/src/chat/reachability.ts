// Whether the service can be reached, as the visitor is told: a short break needs no words.

import type { Standing } from "./screen.ts";

const TOLD_AFTER = 1_200;

export class Reachability {
  #standing: Standing = "connecting";
  #everReached = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #online: () => boolean;
  #tell: (standing: Standing) => void;

  constructor({ online, tell }: { online: () => boolean; tell: (standing: Standing) => void }) {
    this.#online = online;
    this.#tell = tell;
  }

  get standing(): Standing {
    return this.#standing;
  }

  /** The visitor was told that there is no connection. */
  get isLost(): boolean {
    return this.#standing === "reconnecting" || this.#standing === "offline";
  }

  reached(): void {
    this.stop();
    this.#everReached = true;
    this.#becomes("ready");
  }

  /** There is no line; `connecting` where one is being made. */
  broken({ connecting }: { connecting: boolean }): void {
    const tell = () => this.#becomes(this.#online() ? "reconnecting" : "offline");
    if (this.isLost || !this.#online()) tell();
    else if (!this.#everReached && connecting) this.#becomes("connecting");
    else this.#timer ??= setTimeout(tell, TOLD_AFTER);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #becomes(standing: Standing): void {
    this.#standing = standing;
    this.#tell(standing);
  }
}
