// One conversation as this tab knows it: what the server saved, what it is sending, and what was typed here but has
// not arrived there. Knows nothing of the page or the socket.
//
// A message: {key, id, role, clientId, text, status, createdAt, strategy, notice, sources, choices, related, position,
// contact, feedback, abstained, error, version}. Questions typed here are "sending" until the server has them, or "unsent".
// `version` grows with each change, so that a view can tell what to draw.

const GAP_FILLED_WITHIN = 3_000;

export class Conversation {
  #lastSeq = null;
  #anySeq = true;
  #gap = { after: null, since: 0 };
  #elsewhere = new Set();
  #feedbackBefore = new Map();

  constructor(id, { elsewhere = [] } = {}) {
    this.id = id;
    this.messages = [];
    this.#elsewhere = new Set(elsewhere);
  }

  /** The number of the last event seen, for the server to go on from; null asks for everything. */
  get lastSeq() {
    return this.#lastSeq;
  }

  get generating() {
    return this.messages.find((message) => message.status === "generating") ?? null;
  }

  get sending() {
    return this.messages.filter((message) => message.status === "sending");
  }

  /** Whether the server has anything of it. */
  get saved() {
    return this.messages.some((message) => message.id !== null);
  }

  get busy() {
    return this.generating !== null || this.sending.length > 0;
  }

  /** Ids whose late events the next conversation of this tab must not take for its own. */
  get messageIds() {
    return [...this.#elsewhere, ...this.messages.map((message) => message.id).filter((id) => id !== null)];
  }

  find(id) {
    return this.messages.find((message) => message.id === id && id !== null && id !== undefined) ?? null;
  }

  findQuestion(clientId) {
    return (clientId && this.messages.find((m) => m.role === "user" && m.clientId === clientId)) || null;
  }

  /** The question that the answer `message` belongs to. */
  questionOf(message) {
    const before = this.messages.slice(0, this.messages.indexOf(message));
    return before.findLast((earlier) => earlier.role === "user") ?? null;
  }

  // --- what happens here ---

  addQuestion(clientId, text) {
    this.messages.push(blank({ key: clientId, clientId, role: "user", text, status: "sending" }));
  }

  /** The server did not take the question; `detail` says why. */
  unsent(question, detail, retryAt = 0) {
    change(question, { status: "unsent", error: detail, retryAt });
  }

  forget(message) {
    this.messages = this.messages.filter((other) => other !== message);
  }

  rate(message, value) {
    if (!this.#feedbackBefore.has(message.id)) this.#feedbackBefore.set(message.id, message.feedback);
    change(message, { feedback: value });
  }

  /** The server refused the rating: show what it still holds. */
  refused(message) {
    if (this.#feedbackBefore.has(message.id)) change(message, { feedback: this.#feedbackBefore.get(message.id) });
    this.#feedbackBefore.delete(message.id);
  }

  // --- what the server says ---

  /** The saved state. Messages keep their identity; what was typed here and is not saved there stays at the end. */
  restore({ messages, last_seq: lastSeq }) {
    const writing = this.generating;
    const saved = messages.map((wire) => this.#merge(wire));
    const here = this.messages.filter(
      (message) => message.role === "user" && message.id === null && !saved.includes(message),
    );
    this.messages = [...saved, ...here];
    // What is being written follows as its events from the beginning; those that are here already are passed over.
    const goesOn = writing !== null && this.generating === writing;
    this.#lastSeq = goesOn ? Math.max(this.#lastSeq ?? 0, lastSeq ?? 0) : (lastSeq ?? null);
    this.#anySeq = true;
  }

  /** Applies a numbered event. "gap" means that events are missing and the saved state is needed. */
  apply(event) {
    if (this.#isElsewhere(event)) return "ignored";
    const order = this.#order(event);
    if (order !== "next") return order;
    if (event.type === "message_start") {
      this.#start(event);
      return "applied";
    }
    const message = this.find(event.message);
    if (!message) return "ignored";
    return this.#change(message, event) ? "applied" : "ignored";
  }

  #isElsewhere(event) {
    if (event.conversation && event.conversation !== this.id) {
      if (event.message?.id) this.#elsewhere.add(event.message.id);
      return true;
    }
    return this.#elsewhere.has(event.message);
  }

  #order({ seq, type, question }) {
    if (typeof seq !== "number") return "next";
    // The reply to a question of this tab is never old: if its number says so, the server's count began anew.
    const own = type === "message_start" && this.findQuestion(question.client_id)?.status === "sending";
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

  #start({ question, message }) {
    const asked = this.find(question.id) ?? this.findQuestion(question.client_id);
    if (asked) {
      const sent = { id: question.id, text: question.text, createdAt: question.created_at, status: "complete" };
      change(asked, { ...sent, error: "" });
    } else {
      this.messages.push(fromWire({ role: "user", status: "complete", ...question }));
    }
    const answer = this.find(message.id);
    if (answer) change(answer, { text: "", sources: [], status: "generating" });
    else this.messages.push(fromWire({ role: "assistant", status: "generating", ...message }));
  }

  #change(message, event) {
    switch (event.type) {
      case "message_delta":
        return change(message, { text: message.text + String(event.text ?? "") });
      case "message_replace":
        return change(message, { text: String(event.text ?? "") });
      case "citation": {
        const others = message.sources.filter((source) => source.n !== event.source.n);
        return change(message, { sources: [...others, event.source].sort((a, b) => a.n - b.n) });
      }
      case "sources":
        return change(message, { sources: event.sources });
      case "abstain":
        return change(message, {
          abstained: true,
          text: event.text,
          contact: event.contact,
          reason: event.reason,
          related: event.related ?? [],
          sources: [],
        });
      case "clarify":
        return change(message, { text: event.text, choices: event.choices, sources: [] });
      case "queued":
        return change(message, { position: event.position });
      case "message_end":
        return change(message, {
          status: event.status,
          strategy: event.strategy ?? "",
          notice: event.notice ?? "",
          abstained: event.status === "abstained",
        });
      case "error":
        return change(message, { error: event.detail ?? "" });
      case "feedback":
        this.#feedbackBefore.delete(message.id);
        return change(message, { feedback: event.value });
      default:
        return false;
    }
  }

  #merge(wire) {
    const known = this.find(wire.id) ?? (wire.role === "user" ? this.findQuestion(wire.client_id) : null);
    const saved = fromWire(wire);
    if (!known) return saved;
    // Its text so far is here, or comes again from its beginning.
    if (saved.status === "generating" && known.status === "generating") return known;
    const { key, version, ...values } = saved;
    change(known, values);
    return known;
  }
}

function blank(values) {
  return {
    id: null,
    clientId: null,
    text: "",
    status: "complete",
    createdAt: new Date().toISOString(),
    strategy: "",
    notice: "",
    reason: "",
    sources: [],
    choices: [],
    related: [],
    position: 0,
    contact: null,
    feedback: 0,
    abstained: false,
    error: "",
    retryAt: 0,
    version: 0,
    ...values,
  };
}

function fromWire(wire) {
  return blank({
    key: (wire.role === "user" && wire.client_id) || `message-${wire.id}`,
    id: wire.id,
    role: wire.role,
    clientId: wire.client_id ?? null,
    text: wire.text ?? "",
    status: wire.status,
    createdAt: wire.created_at,
    strategy: wire.strategy ?? "",
    notice: wire.notice ?? "",
    reason: wire.reason ?? "",
    sources: wire.sources ?? [],
    choices: wire.choices ?? [],
    related: wire.related ?? [],
    contact: wire.contact ?? null,
    feedback: wire.feedback ?? 0,
    abstained: wire.status === "abstained",
  });
}

function change(message, values) {
  Object.assign(message, values);
  message.version += 1;
  return true;
}
