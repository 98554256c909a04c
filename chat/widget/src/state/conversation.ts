// One conversation as this tab knows it: what the server saved, what it is sending, and what was typed here but has
// not arrived there. Knows nothing of the page or the line.

import type { UnknownEvent } from "../net/shapes.ts";
import type { CaseView, MessageStart, ServerEvent, Snapshot } from "../protocol.ts";
import { applyTo } from "./changes.ts";
import { blank, change, fromWire, type Message } from "./message.ts";

const GAP_FILLED_WITHIN = 3_000;
const RATED_AFTER = 3;

/** "gap": events are missing, and are to be asked for. */
export type Outcome = "applied" | "ignored" | "gap";

export type NumberedEvent = Exclude<ServerEvent, Snapshot | { type: "ping" | "erased" }> | UnknownEvent;

export class Conversation {
  readonly id: string;
  messages: Message[] = [];
  /** The questions that were left with offices, the oldest first. */
  cases: readonly CaseView[] = [];
  /** 1 to 5, or null while nobody rated it. */
  stars: number | null = null;
  #lastSeq: number | null = null;
  #anySeq = true;
  #gap: { after: number | null; since: number } = { after: null, since: 0 };
  #feedbackBefore = new Map<Message, Pick<Message, "feedback" | "reasons">>();

  constructor(id: string) {
    this.id = id;
  }

  /** The number of the last event seen, for the server to go on from; null asks for everything. */
  get lastSeq(): number | null {
    return this.#lastSeq;
  }

  get generating(): Message | null {
    return this.messages.find((message) => message.status === "generating") ?? null;
  }

  get sending(): Message[] {
    return this.messages.filter((message) => message.status === "sending");
  }

  /** Whether the server has anything of it. */
  get saved(): boolean {
    return this.messages.some((message) => message.id !== null);
  }

  get busy(): boolean {
    return this.generating !== null || this.sending.length > 0;
  }

  /** Whether somebody in need was told who helps: then nothing asks how well that was done. */
  get hasHelp(): boolean {
    return this.messages.some((message) => message.help !== null);
  }

  /** Whether enough was answered for the visitor to say how it went, and they have not said so. */
  get wantsRating(): boolean {
    const answers = this.messages.filter(
      ({ role, status }) => role === "assistant" && /^(complete|abstained)$/.test(status),
    );
    return this.stars === null && !this.busy && !this.hasHelp && answers.length >= RATED_AFTER;
  }

  get lastQuestion(): Message | null {
    return this.messages.findLast((message) => message.role === "user") ?? null;
  }

  find(id: number | null | undefined): Message | null {
    if (id === null || id === undefined) return null;
    return this.messages.find((message) => message.id === id) ?? null;
  }

  findQuestion(clientId: string | null | undefined): Message | null {
    if (!clientId) return null;
    return this.messages.find((message) => message.role === "user" && message.clientId === clientId) ?? null;
  }

  /** The question that the answer `message` belongs to. */
  questionOf(message: Message): Message | null {
    const before = this.messages.slice(0, this.messages.indexOf(message));
    return before.findLast((earlier) => earlier.role === "user") ?? null;
  }

  // --- what happens here ---

  addQuestion(clientId: string, text: string, how: Partial<Pick<Message, "asQuestion" | "replaces">> = {}): Message {
    const question = blank({ ...how, key: clientId, clientId, role: "user", text, status: "sending" });
    this.messages.push(question);
    return question;
  }

  /** The server did not take the question; `detail` says why. */
  unsent(question: Message, detail: string, retryAt = 0): void {
    change(question, { status: "unsent", error: detail, retryAt });
  }

  /** A question left with an office, as a reply of the server has it; an event may have told more meanwhile. */
  putReply(given: CaseView): void {
    const known = this.cases.find(({ id }) => id === given.id);
    if (!known || known.messages.length <= given.messages.length) this.#putCase(given);
  }

  dropCase(id: number): void {
    this.cases = this.cases.filter((other) => other.id !== id);
  }

  forget(message: Message): void {
    this.messages = this.messages.filter((other) => other !== message);
  }

  rate(message: Message, feedback: number, reasons: readonly string[] = []): void {
    if (!this.#feedbackBefore.has(message)) {
      this.#feedbackBefore.set(message, { feedback: message.feedback, reasons: message.reasons });
    }
    change(message, { feedback, reasons });
  }

  /** The server refused the feedback: show what it still holds. */
  refused(message: Message): void {
    change(message, this.#feedbackBefore.get(message) ?? {});
    this.#feedbackBefore.delete(message);
  }

  // --- what the server says ---

  /** The saved state. Messages keep their identity; what was refused stays in its place, what is being sent comes last. */
  restore({ messages, last_seq: lastSeq, stars, cases = [] }: Snapshot): void {
    const writing = this.generating;
    const all = messages.map((wire) => this.#merge(fromWire(wire)));
    this.messages.forEach((message, index) => {
      if (message.id !== null || all.includes(message)) return;
      const before = this.messages[index - 1];
      const place = message.status === "sending" ? all.length : before ? all.indexOf(before) + 1 : 0;
      all.splice(place, 0, message);
    });
    this.messages = all;
    this.stars = stars ?? null;
    this.cases = cases;
    // What is being written follows as its events from the beginning; those that are here already are passed over.
    const goesOn = writing !== null && this.generating === writing;
    this.#lastSeq = goesOn ? Math.max(this.#lastSeq ?? 0, lastSeq ?? 0) : lastSeq;
    this.#anySeq = true;
  }

  apply(event: NumberedEvent): Outcome {
    if (event.conversation !== this.id) return "ignored";
    const order = this.#order(event);
    if (order !== "next") return order;
    switch (event.type) {
      case "unknown":
        return "ignored";
      case "message_start":
        this.#start(event);
        return "applied";
      case "rating":
        this.stars = event.stars;
        return "applied";
      case "case":
        this.#putCase(event.case);
        return "applied";
      case "case_withdrawn":
        this.dropCase(event.case);
        return "applied";
      case "conversation_deleted":
        return "applied";
      default: {
        const message = this.find(event.message);
        if (!message) return "ignored";
        if (event.type === "feedback") this.#feedbackBefore.delete(message);
        applyTo(message, event);
        return "applied";
      }
    }
  }

  #order(event: NumberedEvent): Outcome | "next" {
    const seq = event.seq;
    if (typeof seq !== "number") return "next";
    // The reply to a question of this tab is never old: if its number says so, the server's count began anew.
    const own = event.type === "message_start" && this.findQuestion(event.question.client_id)?.status === "sending";
    if (this.#lastSeq !== null && !own) {
      if (seq <= this.#lastSeq) return "ignored";
      if (seq > this.#lastSeq + 1 && !this.#anySeq) {
        const asked = this.#gap.after === this.#lastSeq;
        if (!asked) this.#gap = { after: this.#lastSeq, since: Date.now() };
        // What is missing comes with all that follows it; if it has not come by then, it is gone.
        if (Date.now() - this.#gap.since < GAP_FILLED_WITHIN) return asked ? "ignored" : "gap";
      }
    }
    this.#lastSeq = seq;
    this.#anySeq = false;
    return "next";
  }

  #putCase(given: CaseView): void {
    this.cases = [...this.cases.filter(({ id }) => id !== given.id), given].sort((a, b) => a.id - b.id);
  }

  #start({ question, message, replaces }: MessageStart): void {
    const gone = this.find(replaces);
    if (gone) this.messages.splice(this.messages.indexOf(gone), 2);
    const asked = this.find(question.id) ?? this.findQuestion(question.client_id);
    if (asked) {
      change(asked, {
        id: question.id,
        text: question.text,
        createdAt: question.created_at,
        status: "complete",
        error: "",
      });
    } else {
      this.messages.push(fromWire({ ...question, role: "user", status: "complete" }));
    }
    const answer = this.find(message.id);
    if (answer) change(answer, { text: "", office: null, sources: [], status: "generating" });
    else this.messages.push(fromWire({ ...message, role: "assistant", text: "", status: "generating" }));
  }

  #merge(saved: Message): Message {
    const known = this.find(saved.id) ?? (saved.role === "user" ? this.findQuestion(saved.clientId) : null);
    if (!known) return saved;
    // Its text so far is here, or comes again from its beginning.
    if (saved.status === "generating" && known.status === "generating") return known;
    const { key: _key, role: _role, asQuestion: _asked, replaces: _replaces, version: _version, ...values } = saved;
    // What the server says went wrong is told once, in the events; the saved state does not repeat it.
    if (!differs(known, { ...values, error: known.error, retryAt: known.retryAt })) return known;
    change(known, { ...values, error: values.status === known.status ? known.error : "" });
    return known;
  }
}

function differs(message: Message, values: Partial<Message>): boolean {
  return Object.entries(values).some(
    ([name, value]) => JSON.stringify(message[name as keyof Message]) !== JSON.stringify(value),
  );
}
