// What is typed for offices and they do not have yet: each question that is being left, each message that is being
// written. None of it is lost to a reload or a closed chat.

/** `clientId` makes what is sent twice one thing. The others are of a question that is being left. */
export interface CaseDraft {
  clientId: string;
  text: string;
  office?: number;
  shared?: readonly number[];
  email?: string;
}

export class CaseDrafts {
  #store: { caseDrafts: string };

  constructor(store: { caseDrafts: string }) {
    this.#store = store;
  }

  read(key: string): CaseDraft | null {
    return this.#all()[key] ?? null;
  }

  keep(key: string, draft: CaseDraft): void {
    this.#write({ ...this.#all(), [key]: draft });
  }

  drop(key: string): void {
    const { [key]: _gone, ...others } = this.#all();
    this.#write(others);
  }

  #write(drafts: Record<string, CaseDraft>): void {
    this.#store.caseDrafts = Object.keys(drafts).length ? JSON.stringify(drafts) : "";
  }

  #all(): Record<string, CaseDraft> {
    return JSON.parse(this.#store.caseDrafts || "{}") as Record<string, CaseDraft>;
  }
}
