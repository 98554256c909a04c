// The stand-in's offices, and what is left with them.

const IN_TWO_DAYS = 2 * 24 * 3_600_000;

const OFFICES = {
  en: [
    { id: 3, name: "Student Service Centre", hours: ["Monday: 09:00–12:00, 13:00–16:00", "Thursday: 09:00–17:00"] },
    { id: 4, name: "International Office", hours: ["Tuesday: 10:00–12:00"] },
  ],
  de: [
    { id: 3, name: "Studierendenservice", hours: ["Montag: 09:00–12:00, 13:00–16:00", "Donnerstag: 09:00–17:00"] },
    { id: 4, name: "International Office", hours: ["Dienstag: 10:00–12:00"] },
  ],
};

export class Offices {
  /** How many take questions, and whether they can mail. */
  count = 2;
  mails = false;
  #ids = 500;

  handover(row, answer, language) {
    const index = row.messages.findIndex(({ id }) => id === answer);
    const [question] = row.messages.slice(0, index).filter(({ role }) => role === "user").slice(-1);
    const offices = OFFICES[language].slice(0, this.count).map((office, place) => ({
      ...{ ...office, is_open: place === 0 },
      reply_due: new Date(Date.now() + IN_TWO_DAYS * (place + 1)).toISOString(),
    }));
    return {
      offices,
      office: offices[0]?.id ?? null,
      question: question?.text ?? "",
      messages: row.messages.filter(({ text }) => text).map(({ id, role, text }) => ({ id, role, text })),
      shared: [question?.id, answer].filter(Boolean),
      mails: this.mails,
    };
  }

  /** The case, and whether it is new. */
  open(row, body, language) {
    row.cases ??= [];
    const before = row.cases.find(({ client }) => client === body.client_id);
    if (before) return [before, false];
    const now = Date.now();
    const found = {
      id: (this.#ids += 1),
      office: OFFICES[language].find(({ id }) => id === body.office).name,
      state: "open",
      question: body.question,
      about: body.answer,
      opened_at: new Date(now).toISOString(),
      reply_due: new Date(now + IN_TWO_DAYS).toISOString(),
      mails: body.email ? "unconfirmed" : "",
      helped: null,
      messages: [],
      client: body.client_id,
      shared: body.shared,
    };
    row.cases.push(found);
    return [found, true];
  }

  /** The wish to be told, one for each answer. */
  wish(row, { client_id: client, answer }) {
    row.cases ??= [];
    const before = row.cases.find(({ about, state }) => about === answer && /watching|told/.test(state));
    if (before) return before;
    const index = row.messages.findIndex(({ id }) => id === answer);
    const [question] = row.messages.slice(0, index).filter(({ role }) => role === "user").slice(-1);
    const found = {
      ...{ id: (this.#ids += 1), office: "", state: "watching", question: question.text, about: answer },
      ...{ opened_at: new Date().toISOString(), reply_due: "", mails: "", helped: null, messages: [], client },
    };
    row.cases.push(found);
    return found;
  }

  tell(found) {
    this.say(found, "assistant", "There is an answer to your question now: [Dogs](https://www.uni-lindental.example/dogs)");
    found.state = "told";
  }

  say(found, by, text, { asks = false, closes = false, client = null } = {}) {
    if (client && found.messages.some((words) => words.client === client)) return;
    const created = new Date().toISOString();
    found.messages.push({ id: (this.#ids += 1), by, text, asks_back: asks, created_at: created, client });
    found.state = by === "student" ? "open" : closes ? "closed" : "replied";
    found.helped = null;
  }
}
