// What the stand-in service remembers, in memory: visitors by token, conversations, numbered events.

import { script } from "./answers.mjs";
import { Offices } from "./cases.mjs";

const DELTA_EVERY = Number(process.env.DELTA_MS ?? 25);
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

export class Service {
  offices = new Offices();
  #ids = 100;
  #visitors = new Map();
  #conversations = new Map();
  #listeners = new Set();

  newVisitor() {
    const token = `visitor-${(this.#ids += 1)}`;
    this.#visitors.set(token, true);
    return token;
  }

  knows(token) {
    return this.#visitors.has(token);
  }

  /** Calls `hear(event)` for all that happens to a visitor; gives the way to stop that. */
  listen(visitor, hear) {
    const entry = { visitor, hear };
    this.#listeners.add(entry);
    return () => this.#listeners.delete(entry);
  }

  own(visitor, id) {
    const found = this.#conversations.get(id);
    return found?.visitor === visitor ? found : null;
  }

  list(visitor) {
    const own = [...this.#conversations.values()].filter((row) => row.visitor === visitor);
    return own.reverse().map(({ id, title, created, messages }) => ({
      ...{ id, title: title || messages[0]?.text.slice(0, 60) || "", created_at: created },
      ...{ updated_at: messages.at(-1)?.created_at ?? created, messages: messages.length },
    }));
  }

  snapshot(visitor, id) {
    const row = this.own(visitor, id);
    const head = { type: "conversation", seq: null, conversation: id };
    if (!row) return { ...head, messages: [], last_seq: 0, title: "", stars: null, cases: [] };
    const begun = row.messages.at(-1)?.status === "generating" ? row.begun : row.events.length;
    return { ...head, messages: row.messages, last_seq: begun, title: row.title, stars: row.stars, cases: row.cases ?? [] };
  }

  since(visitor, id, after) {
    return this.own(visitor, id)?.events.slice(after) ?? [];
  }

  ask(visitor, { conversation, client_id: clientId, text, as_question: asQuestion, replaces = null }) {
    let row = this.own(visitor, conversation);
    if (!row) {
      const now = new Date().toISOString();
      row = {
        id: conversation,
        visitor,
        created: now,
        messages: [],
        events: [],
        title: "",
        stars: null,
        begun: 0,
        stopped: new Set(),
      };
      this.#conversations.set(conversation, row);
    }
    if (row.messages.some((message) => message.client_id === clientId)) return false;
    const created = new Date().toISOString();
    const common = {
      created_at: created,
      strategy: "",
      notice: "",
      reason: "",
      sources: [],
      choices: [],
      related: [],
      contact: null,
      help: null,
      office: null,
      feedback: 0,
      feedback_reasons: [],
    };
    const question = { ...common, id: (this.#ids += 1), role: "user", client_id: clientId, text, status: "complete" };
    const reply = {
      ...common,
      id: (this.#ids += 1),
      role: "assistant",
      client_id: null,
      text: "",
      status: "generating",
    };
    if (replaces !== null) row.messages = row.messages.filter(({ id }) => id < replaces);
    row.messages.push(question, reply);
    this.#tell(row, {
      type: "message_start",
      question: { id: question.id, client_id: clientId, text, created_at: created },
      message: { id: reply.id, created_at: created },
      replaces,
    });
    row.begun = row.events.length;
    void this.#produce(row, reply, script(text, { asQuestion }));
    return true;
  }

  stop(visitor, id) {
    for (const row of this.#conversations.values()) if (row.visitor === visitor) row.stopped.add(id);
  }

  #holding(visitor, id) {
    return [...this.#conversations.values()].find(
      (one) => one.visitor === visitor && one.messages.some((m) => m.id === id),
    );
  }

  useContact(visitor, id, kind) {
    const message = this.#holding(visitor, id).messages.find((m) => m.id === id);
    message.contacts_used = [...new Set([...(message.contacts_used ?? []), kind])];
  }

  feedback(visitor, id, { value, reasons = [] }) {
    const row = this.#holding(visitor, id);
    Object.assign(
      row.messages.find((m) => m.id === id),
      { feedback: value, feedback_reasons: reasons },
    );
    this.#tell(row, { type: "feedback", message: id, value, reasons });
  }

  /** The conversation and the case of that visitor with that number; the newest one of all without a number. */
  findCase(visitor, id) {
    const all = [...this.#conversations.values()].filter((row) => visitor === null || row.visitor === visitor);
    const cases = all.flatMap((row) => (row.cases ?? []).map((found) => [row, found]));
    return (id === null ? cases.sort((a, b) => a[1].id - b[1].id).at(-1) : cases.find(([, one]) => one.id === id)) ?? [];
  }

  openCase(row, body, language) {
    const [found, isNew] = this.offices.open(row, body, language);
    if (isNew) this.tellCase(row, found);
    return found;
  }

  tellCase(row, found) {
    this.#tell(row, { type: "case", case: structuredClone(found) });
  }

  withdraw(row, found) {
    row.cases = row.cases.filter((other) => other !== found);
    this.#tell(row, { type: "case_withdrawn", case: found.id });
  }

  rate(visitor, id, stars) {
    const row = this.own(visitor, id);
    row.stars = stars;
    this.#tell(row, { type: "rating", stars });
  }

  rename(visitor, id, title) {
    this.own(visitor, id).title = title;
  }

  remove(visitor, id) {
    const row = this.own(visitor, id);
    this.#conversations.delete(id);
    this.#tell(row, { type: "conversation_deleted" });
  }

  erase(visitor) {
    for (const { id } of this.list(visitor)) this.#conversations.delete(id);
    this.#visitors.delete(visitor);
    for (const one of this.#listeners) if (one.visitor === visitor) one.hear({ type: "erased", seq: null });
  }

  /** Questions and answers that were said some time ago. */
  fill(visitor, conversation, count) {
    for (let i = 0; i < count / 2; i += 1) {
      this.ask(visitor, { conversation, client_id: `old-${i}`, text: `Question ${i + 1}` });
      const row = this.own(visitor, conversation);
      Object.assign(row.messages.at(-1), {
        status: "complete",
        text: `**Answer ${i + 1}.** ${"It says something [1]. ".repeat(8)}`,
        sources: [],
      });
      row.events.length = 0;
    }
  }

  #tell(row, event) {
    const numbered = { ...event, conversation: row.id, seq: row.events.length + 1 };
    row.events.push(numbered);
    for (const { visitor, hear } of this.#listeners) if (visitor === row.visitor) hear(numbered);
  }

  async #produce(row, reply, steps) {
    for (const step of steps) {
      if (reply.status !== "generating") return;
      if (step.pause) await pause(step.pause);
      while (step.hold && !row.stopped.has(reply.id)) await pause(50);
      if (step.pause || step.hold) continue;
      const event = row.stopped.has(reply.id)
        ? { type: "message_end", status: "stopped", strategy: "", notice: "" }
        : step;
      if (event.type === "message_delta") reply.text += event.text;
      if (event.dates) reply.dates = event.dates;
      if (event.type === "sources") reply.sources = event.sources;
      if (event.type === "abstain" || event.type === "clarify") {
        Object.assign(reply, {
          text: event.text,
          contact: event.contact ?? null,
          related: event.related ?? [],
          choices: event.choices ?? [],
        });
      }
      if (event.type === "office_answer") reply.office = event.answer;
      if (event.type === "help") Object.assign(reply, { text: event.text, help: event.card });
      if (event.type === "message_end") {
        event.machine_made = !["fixed", "written"].includes(event.strategy);
        Object.assign(reply, { status: event.status, strategy: event.strategy, machine_made: event.machine_made });
      }
      this.#tell(row, { ...event, message: reply.id });
      if (event.type === "message_end") return;
      if (event.type === "message_delta") await pause(DELTA_EVERY);
    }
  }
}
