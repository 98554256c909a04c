// What this browser remembers, and only once the visitor agreed: the token and the conversation (shared by its tabs),
// and of each tab its own conversation and what is being typed. Where storage is blocked, memory stands in.

export interface StoredSession {
  token: string;
  /** ms of the epoch */
  expiresAt: number;
}

interface Area {
  read(key: string): string | null;
  write(key: string, value: string): void;
  remove(key: string): void;
}

function area(name: "localStorage" | "sessionStorage"): Area {
  const memory = new Map<string, string>();
  const storage = (): Storage | null => {
    try {
      return window[name];
    } catch {
      // Blocked by the browser.
      return null;
    }
  };
  return {
    read: (key) => storage()?.getItem(key) ?? memory.get(key) ?? null,
    write(key, value) {
      memory.set(key, value);
      try {
        storage()?.setItem(key, value);
      } catch {
        // Full: this tab remembers.
      }
    },
    remove(key) {
      memory.delete(key);
      storage()?.removeItem(key);
    },
  };
}

export class Store {
  #shared = area("localStorage");
  #tab = area("sessionStorage");
  #site: string;

  constructor(site: string) {
    this.#site = site;
  }

  /** Null means that nobody has agreed here yet. */
  get session(): StoredSession | null {
    try {
      const session: unknown = JSON.parse(this.#shared.read(this.#key("session")) ?? "null");
      const kept = session as StoredSession | null;
      return typeof kept?.token === "string" ? kept : null;
    } catch {
      return null;
    }
  }

  set session(value: StoredSession) {
    this.#shared.write(this.#key("session"), JSON.stringify(value));
  }

  /** This tab's conversation, else the one another tab was last in. */
  get conversation(): string | null {
    return this.#tab.read(this.#key("conversation")) ?? this.#shared.read(this.#key("conversation"));
  }

  set conversation(id: string) {
    this.#tab.write(this.#key("conversation"), id);
    this.#shared.write(this.#key("conversation"), id);
  }

  get draft(): string {
    return this.#tab.read(this.#key("draft")) ?? "";
  }

  set draft(text: string) {
    if (text) this.#tab.write(this.#key("draft"), text);
    else this.#tab.remove(this.#key("draft"));
  }

  /** What is being typed for offices, as JSON. */
  get caseDrafts(): string {
    return this.#tab.read(this.#key("cases")) ?? "";
  }

  set caseDrafts(text: string) {
    if (text) this.#tab.write(this.#key("cases"), text);
    else this.#tab.remove(this.#key("cases"));
  }

  /** The id of the latest reply of an office that was shown. */
  get shownReply(): number {
    return Number(this.#shared.read(this.#key("reply"))) || 0;
  }

  set shownReply(id: number) {
    this.#shared.write(this.#key("reply"), String(id));
  }

  /** Until when, in ms of the epoch, a chat that is closed listens too: an office is to reply. */
  get listensUntil(): number {
    return Number(this.#shared.read(this.#key("listens"))) || 0;
  }

  set listensUntil(time: number) {
    this.#shared.write(this.#key("listens"), String(time));
  }

  /** The language the visitor chose, or null where the page decides. */
  get language(): string | null {
    return this.#shared.read(this.#key("language"));
  }

  set language(language: string) {
    this.#shared.write(this.#key("language"), language);
  }

  /** The conversation whose request for a rating was declined. */
  get unrated(): string | null {
    return this.#shared.read(this.#key("unrated"));
  }

  set unrated(conversation: string) {
    this.#shared.write(this.#key("unrated"), conversation);
  }

  /** Forgets everything, the consent too. */
  clear(): void {
    for (const name of ["session", "conversation", "draft", "language", "unrated", "cases", "reply", "listens"]) {
      this.#shared.remove(this.#key(name));
      this.#tab.remove(this.#key(name));
    }
  }

  /** Calls `changed` when another tab of this browser forgot everything; what this one holds is to be cleared too. */
  onErased(changed: () => void): void {
    window.addEventListener("storage", (event) => {
      if ((event.key !== this.#key("session") && event.key !== null) || event.newValue !== null) return;
      changed();
    });
  }

  #key(name: string): string {
    return `marcelcms.${this.#site}.${name}`;
  }
}
