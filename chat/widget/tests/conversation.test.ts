import assert from "node:assert/strict";
import test from "node:test";
import type { CaseView, HelpCard, MessageStart, Snapshot } from "../src/protocol.ts";
import { Conversation, type NumberedEvent } from "../src/state/conversation.ts";

const HERE = "c1";
const at = "2026-10-01T10:00:00Z";

const start = (seq: number, clientId = "q1", answer = 2): MessageStart => ({
  type: "message_start",
  seq,
  conversation: HERE,
  question: { id: answer - 1, client_id: clientId, text: "How much?", created_at: at },
  message: { id: answer, created_at: at },
});
const delta = (seq: number, text: string, message = 2): NumberedEvent => ({
  type: "message_delta",
  seq,
  conversation: HERE,
  message,
  text,
});
const end = (seq: number, message = 2): NumberedEvent => ({
  type: "message_end",
  seq,
  conversation: HERE,
  message,
  status: "complete",
  strategy: "generated",
  notice: "",
});
const snapshot = (messages: Snapshot["messages"], last: number, more: Partial<Snapshot> = {}): Snapshot => ({
  type: "conversation",
  conversation: HERE,
  messages,
  last_seq: last,
  ...more,
});
const saved = (
  id: number,
  role: "user" | "assistant",
  text: string,
  status: Snapshot["messages"][number]["status"] = "complete",
  client_id: string | null = null,
) => ({
  ...{ id, role, text, status, client_id, created_at: at },
});
const card: HelpCard = {
  kind: "crisis",
  contacts: [{ name: "TelefonSeelsorge", phone: "0800 111 0 111", url: "", email: "" }],
};
const textOf = (conversation: Conversation) => conversation.messages.at(-1)?.text;

function answering(): Conversation {
  const conversation = new Conversation(HERE);
  conversation.restore(snapshot([], 0));
  conversation.addQuestion("q1", "How much?");
  conversation.apply(start(1));
  return conversation;
}

test("a question that was sent becomes the saved one, and its answer grows", () => {
  const conversation = answering();
  assert.equal(conversation.apply(delta(2, "318 ")), "applied");
  conversation.apply(delta(3, "euros"));
  conversation.apply(end(4));
  assert.deepEqual(
    conversation.messages.map(({ role, text, status }) => [role, text, status]),
    [
      ["user", "How much?", "complete"],
      ["assistant", "318 euros", "complete"],
    ],
  );
  assert.equal(conversation.busy, false);
});

test("an event that came before is passed over", () => {
  const conversation = answering();
  conversation.apply(delta(2, "once"));
  assert.equal(conversation.apply(delta(2, "once")), "ignored");
  assert.equal(textOf(conversation), "once");
});

test("a gap is told once, and what follows it waits for what is missing", () => {
  const conversation = answering();
  conversation.apply(delta(2, "a"));
  assert.equal(conversation.apply(delta(4, "c")), "gap");
  assert.equal(conversation.apply(delta(5, "d")), "ignored");
  assert.equal(conversation.lastSeq, 2);
  for (const [seq, text] of [
    [3, "b"],
    [4, "c"],
    [5, "d"],
  ] as const)
    assert.equal(conversation.apply(delta(seq, text)), "applied");
  assert.equal(textOf(conversation), "abcd");
});

test("an unknown event counts in the order and changes nothing", () => {
  const conversation = answering();
  assert.equal(conversation.apply({ type: "unknown", seq: 2, conversation: HERE }), "ignored");
  assert.equal(conversation.apply(delta(3, "next")), "applied");
});

test("events of another conversation are not this one's", () => {
  const conversation = answering();
  assert.equal(
    conversation.apply({ type: "message_delta", seq: 900, conversation: "c2", message: 2, text: "other" }),
    "ignored",
  );
  assert.equal(conversation.lastSeq, 1);
  assert.equal(conversation.apply(delta(2, "mine")), "applied");
});

test("a snapshot in the middle of an answer neither doubles nor loses a word", () => {
  const conversation = answering();
  conversation.apply(delta(2, "one "));
  conversation.apply(delta(3, "two "));
  conversation.restore(
    snapshot([saved(1, "user", "How much?", "complete", "q1"), saved(2, "assistant", "", "generating")], 1),
  );
  for (const event of [delta(2, "one "), delta(3, "two "), delta(4, "three")]) conversation.apply(event);
  assert.equal(textOf(conversation), "one two three");
});

test("what was typed here and is not saved there stays at the end of a snapshot, and keeps its identity when it is", () => {
  const conversation = new Conversation(HERE);
  conversation.addQuestion("q1", "How much?");
  conversation.restore(snapshot([saved(8, "user", "Earlier"), saved(9, "assistant", "Answer")], 12));
  assert.deepEqual(
    conversation.messages.map(({ text }) => text),
    ["Earlier", "Answer", "How much?"],
  );
  const question = conversation.messages.at(-1);
  conversation.restore(snapshot([saved(10, "user", "How much?", "complete", "q1")], 13));
  assert(conversation.messages[0] === question);
});

test("what the service refused stays where it was asked, whatever is answered after it", () => {
  const conversation = new Conversation(HERE);
  conversation.restore(snapshot([], 0));
  conversation.unsent(conversation.addQuestion("q0", "First"), "No.");
  conversation.addQuestion("q1", "How much?");
  conversation.apply(start(1));
  conversation.apply(end(2));
  conversation.unsent(conversation.addQuestion("q2", "???"), "No words.");
  conversation.addQuestion("q3", "When?");
  conversation.apply(start(3, "q3", 4));
  conversation.apply(end(4, 4));
  const before = conversation.messages.map(({ key }) => key);
  conversation.restore(
    snapshot(
      [
        saved(1, "user", "How much?", "complete", "q1"),
        saved(2, "assistant", ""),
        saved(3, "user", "When?", "complete", "q3"),
        saved(4, "assistant", ""),
      ],
      4,
    ),
  );
  assert.deepEqual(
    conversation.messages.map(({ key }) => key),
    before,
  );
  assert.deepEqual([before[0], before[3]], ["q0", "q2"]);
});

test("a question asked in another tab appears with its answer", () => {
  const conversation = new Conversation(HERE);
  conversation.restore(snapshot([], 0));
  conversation.apply(start(1, "of-the-other-tab"));
  conversation.apply(delta(2, "Hello"));
  assert.deepEqual(
    conversation.messages.map(({ role, text }) => [role, text]),
    [
      ["user", "How much?"],
      ["assistant", "Hello"],
    ],
  );
});

test("a message that a snapshot does not change is not drawn again", () => {
  const conversation = new Conversation(HERE);
  const state = snapshot([saved(1, "user", "Question"), saved(2, "assistant", "Answer")], 3);
  conversation.restore(state);
  const versions = conversation.messages.map(({ version }) => version);
  conversation.restore(state);
  assert.deepEqual(
    conversation.messages.map(({ version }) => version),
    versions,
  );
});

test("a reply to an own question is never old, though the service's count began anew", () => {
  const conversation = new Conversation(HERE);
  conversation.restore(snapshot([], 500));
  conversation.addQuestion("q1", "How much?");
  assert.equal(conversation.apply(start(1)), "applied");
});

test("feedback that is refused shows what the service still holds", () => {
  const conversation = new Conversation(HERE);
  conversation.restore(snapshot([{ ...saved(2, "assistant", "Answer"), feedback: 1 }], 1));
  const [answer] = conversation.messages;
  assert(answer);
  conversation.rate(answer, -1, ["wrong"]);
  conversation.rate(answer, 0);
  conversation.refused(answer);
  assert.equal(answer.feedback, 1);
});

test("a rating is wanted after three answers, until there is one, also after a reload", () => {
  const conversation = new Conversation(HERE);
  const three = [1, 2, 3].map((id) => saved(id, "assistant", "Answer"));
  conversation.restore(snapshot(three.slice(0, 2), 2));
  assert.equal(conversation.wantsRating, false);
  conversation.restore(snapshot(three, 3));
  assert.equal(conversation.wantsRating, true);
  conversation.apply({ type: "rating", seq: 4, conversation: HERE, stars: 4 });
  assert.equal(conversation.wantsRating, false);
  const reloaded = new Conversation(HERE);
  reloaded.restore(snapshot(three, 4, { stars: 4 }));
  assert.equal(reloaded.wantsRating, false);
});

test("an answer asks back, waits its turn, abstains", () => {
  const conversation = answering();
  conversation.apply({ type: "queued", seq: 2, conversation: HERE, message: 2, position: 3 });
  assert.equal(conversation.messages.at(-1)?.queue, 3);
  conversation.apply({
    type: "clarify",
    seq: 3,
    conversation: HERE,
    message: 2,
    text: "Which?",
    choices: ["Bachelor", "Master"],
  });
  assert.deepEqual(conversation.messages.at(-1)?.choices, ["Bachelor", "Master"]);
  conversation.apply({
    type: "abstain",
    seq: 4,
    conversation: HERE,
    message: 2,
    reason: "none",
    text: "Sorry",
    contact: null,
    related: ["A?"],
  });
  assert.deepEqual([conversation.messages.at(-1)?.abstained, conversation.messages.at(-1)?.related], [true, ["A?"]]);
});

test("a cry for help is answered by a card at once, and the saved answer is the same", () => {
  const conversation = answering();
  const help: NumberedEvent = {
    ...{ type: "help", seq: 2, conversation: HERE, message: 2 },
    ...{ text: "Talk to somebody.", card },
  };
  assert.equal(conversation.apply(help), "applied");
  assert.deepEqual([conversation.generating?.text, conversation.generating?.help], ["Talk to somebody.", card]);
  conversation.apply({ ...end(3), strategy: "fixed" } as NumberedEvent);
  const [, answer] = conversation.messages;
  assert(answer);
  const { version } = answer;
  const messages = [
    saved(1, "user", "How much?", "complete", "q1"),
    { ...saved(2, "assistant", "Talk to somebody."), strategy: "fixed" as const, help: card },
  ];
  conversation.restore(snapshot(messages, 3));
  assert.deepEqual([answer.status, answer.help, answer.version], ["complete", card, version]);
  const reloaded = new Conversation(HERE);
  reloaded.restore(snapshot(messages, 3));
  assert.deepEqual(reloaded.messages.at(-1)?.help, card);
});

test("a conversation with a cry for help is not rated", () => {
  const conversation = new Conversation(HERE);
  const answers = [1, 2, 3].map((id) => saved(id, "assistant", "Answer"));
  conversation.restore(snapshot([{ ...saved(4, "assistant", "Talk"), help: card }, ...answers], 4));
  assert.equal(conversation.wantsRating, false);
});

const left = (id: number, words = 0): CaseView => ({
  ...{ id, office: "Service", state: "open", question: "May I?", about: 2, opened_at: at, reply_due: at },
  ...{ mails: "", helped: null },
  messages: Array.from({ length: words }, (_, n) => ({ id: n, by: "student", text: "", asks_back: false, created_at: at })),
});

test("questions to offices are saved, changed and taken back, and an older reply hides nothing", () => {
  const conversation = new Conversation(HERE);
  conversation.restore(snapshot([], 0, { cases: [left(7)] }));
  conversation.apply({ type: "case", seq: 1, conversation: HERE, case: left(5) });
  assert.deepEqual(conversation.cases.map(({ id }) => id), [5, 7]);
  conversation.apply({ type: "case", seq: 2, conversation: HERE, case: left(7, 2) });
  conversation.putReply(left(7, 1));
  assert.equal(conversation.cases[1]?.messages.length, 2);
  // Merged into another one: what was said stands there.
  conversation.apply({ type: "case", seq: 3, conversation: HERE, case: left(7) });
  assert.equal(conversation.cases[1]?.messages.length, 0);
  conversation.apply({ type: "case_withdrawn", seq: 4, conversation: HERE, case: 5 });
  assert.deepEqual(conversation.cases.map(({ id }) => id), [7]);
});
