import assert from "node:assert/strict";
import test from "node:test";
import { Chat } from "../src/chat/chat.ts";
import type { ChatParts, Line } from "../src/chat/parts.ts";
import type { Screen } from "../src/chat/screen.ts";
import type { LineEvents } from "../src/net/line.ts";
import type { ClientFrame } from "../src/protocol.ts";

const at = "2026-10-01T10:00:00Z";

/** A service that is there or not, and remembers what it was told; `before` is what the tab remembers. */
function stage(before: Partial<ChatParts["store"]> = {}) {
  const store: ChatParts["store"] = { conversation: null, draft: "", shownReply: 0, listensUntil: 0, ...before };
  const sent: ClientFrame[] = [];
  const said: string[] = [];
  let events: LineEvents | null = null;
  let open = false;
  const line: Line = {
    start: () => undefined,
    stop: () => said.push("stop"),
    restart: () => said.push("restart"),
    settled: () => undefined,
    send: (frame) => open && sent.push(frame) > 0,
  };
  let text = "";
  const screen: Screen = {
    get text() {
      return text;
    },
    set text(value) {
      text = value;
      chat.typed();
    },
    show: () => undefined,
    showStanding: (standing) => said.push(standing),
    showProblem: (text) => text && said.push(text),
    hint: (text) => text && said.push(text),
    focusField: () => undefined,
    toEnd: () => undefined,
    announce: (text) => text.startsWith("Reply") && said.push(text),
    isSeen: true,
    showNews: (are) => are && said.push("news"),
    toCase: (id) => said.push(`case ${id}`),
    follow: () => undefined,
  };
  const session = { token: async () => "t", renew: async () => "t2" };
  const connect = (heard: LineEvents) => {
    events = heard;
    return line;
  };
  const chat = new Chat({ connect, session, store, screen, online: () => true, erased: () => said.push("erased") });
  const begin = () => {
    open = true;
    events?.onState("open");
  };
  const hear = (frame: object) => events?.onFrame({ conversation: chat.conversation.id, ...frame });
  return {
    chat,
    screen,
    store,
    sent,
    said,
    hear,
    open: begin,
    asks: () => sent.filter((frame) => frame.type === "ask"),
    connect: (messages: object[] = [], last = 0) => {
      begin();
      hear({ type: "conversation", seq: null, messages, last_seq: last });
    },
    lose: () => {
      open = false;
      events?.onState("waiting");
    },
    greet: () => events?.greet(),
  };
}

test("the first frame carries the token and asks for the saved state", async () => {
  const { chat, greet } = stage();
  assert.deepEqual(await greet(), { type: "resume", token: "t", conversation: chat.conversation.id, after: null });
});

test("a question that got no reply before the line broke is sent again, as the same question", () => {
  const { chat, connect, lose, asks } = stage();
  connect();
  chat.ask("How much?");
  lose();
  connect();
  assert.equal(asks().length, 2);
  assert.deepEqual(asks()[0], asks()[1]);
  chat.stop();
});

test("a question that the service has is not sent again", () => {
  const { chat, connect, lose, asks } = stage();
  connect();
  chat.ask("How much?");
  lose();
  connect(
    [
      {
        id: 1,
        role: "user",
        client_id: chat.conversation.messages[0]?.key,
        text: "How much?",
        status: "complete",
        created_at: at,
      },
    ],
    1,
  );
  assert.equal(asks().length, 1);
  chat.stop();
});

test("a gap in the numbers asks for what is missing after the last number", () => {
  const { chat, connect, hear, sent } = stage();
  connect();
  chat.ask("How much?");
  const question = { id: 1, client_id: chat.conversation.messages[0]?.key, text: "How much?", created_at: at };
  hear({ type: "message_start", seq: 1, question, message: { id: 2, created_at: at } });
  hear({ type: "message_delta", seq: 2, message: 2, text: "a" });
  hear({ type: "message_delta", seq: 4, message: 2, text: "c" });
  assert.deepEqual(sent.at(-1), { type: "resume", conversation: chat.conversation.id, after: 2 });
  chat.stop();
});

test("a refused question comes back into the field, with the reason", () => {
  const { chat, connect, hear, screen } = stage();
  connect();
  chat.ask("How much?");
  const [question] = chat.conversation.messages;
  hear({
    type: "error",
    seq: null,
    code: "rate_limited",
    detail: "Too many questions.",
    client_id: question?.key,
    retry_after: 5,
  });
  assert.equal(screen.text, "How much?");
  assert.deepEqual([question?.status, question?.error], ["unsent", "Too many questions."]);
});

test("stop pressed before the answer begins stops it as soon as it does", () => {
  const { chat, connect, hear, sent } = stage();
  connect();
  chat.ask("How much?");
  chat.halt();
  const question = { id: 1, client_id: chat.conversation.messages[0]?.key, text: "How much?", created_at: at };
  hear({ type: "message_start", seq: 1, question, message: { id: 2, created_at: at } });
  assert.deepEqual(sent.at(-1), { type: "stop", message: 2 });
});

test("a session that is over is renewed twice at most", async () => {
  const { connect, hear, said } = stage();
  connect();
  for (let i = 0; i < 4; i += 1) {
    hear({ type: "error", seq: null, code: "session_expired", detail: "" });
    await new Promise((resolve) => setTimeout(resolve));
  }
  assert.equal(said.filter((word) => word === "restart").length, 2);
});

test("a conversation deleted in another tab makes room for a new one", () => {
  const { chat, connect, hear, sent } = stage();
  connect();
  const before = chat.conversation.id;
  hear({ type: "conversation_deleted", seq: 1 });
  assert(chat.conversation.id !== before);
  assert.deepEqual(sent.at(-1), { type: "resume", conversation: chat.conversation.id, after: null });
});

test("malformed and unknown frames change nothing", () => {
  const { chat, connect, hear } = stage();
  connect();
  for (const frame of [
    {},
    { type: "message_delta", seq: 1, message: "x", text: 3 },
    { type: "sparkle" },
    { type: "citation", seq: 1, message: 1 },
  ])
    hear(frame);
  assert.equal(chat.conversation.messages.length, 0);
});

test("what is erased elsewhere is told at once", () => {
  const { connect, hear, said } = stage();
  connect();
  hear({ type: "erased", seq: null });
  assert.deepEqual(said.at(-1), "erased");
});

test("a page that may not have the assistant is told so, and nothing more is tried", () => {
  const { chat, hear, said } = stage();
  const before = chat.conversation.id;
  hear({ type: "error", seq: null, code: "forbidden_origin", detail: "Not on this page.", retry_after: null });
  assert.deepEqual(said, ["Not on this page.", "stop"]);
  assert.equal(chat.conversation.id, before);
});

test("a conversation that cannot be had just now is asked for again", async () => {
  const { chat, open, hear, sent } = stage();
  open();
  hear({ type: "error", seq: null, code: "unavailable", detail: "Interrupted.", retry_after: 0 });
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.deepEqual(sent, [{ type: "resume", conversation: chat.conversation.id, after: null }]);
});

test("an answer of which nothing comes is asked about, less and less often", ({ mock }) => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const { connect, hear, sent } = stage();
  const resumes = () => sent.filter((frame) => frame.type === "resume").length;
  const messages = [
    { id: 1, role: "user", text: "Fee?", status: "complete", created_at: at },
    { id: 2, role: "assistant", text: "", status: "generating", created_at: at },
  ];
  connect(messages, 1);
  mock.timers.tick(2_900);
  assert.equal(resumes(), 0);
  hear({ type: "message_delta", seq: 2, message: 2, text: "318" });
  mock.timers.tick(2_900);
  assert.equal(resumes(), 0);
  mock.timers.tick(100);
  assert.equal(resumes(), 1);
  hear({ type: "conversation", seq: null, messages, last_seq: 1 });
  mock.timers.tick(5_900);
  assert.equal(resumes(), 1);
  mock.timers.tick(100);
  assert.equal(resumes(), 2);
  hear({ type: "message_end", seq: 3, message: 2, status: "complete" });
  mock.timers.tick(60_000);
  assert.equal(resumes(), 2);
});

const answered = [
  { id: 1, role: "user", client_id: "q1", text: "How much?", status: "complete", created_at: at },
  { id: 2, role: "assistant", text: "318", status: "complete", created_at: at },
];

/** A conversation with one answer, while another question is being typed. */
function typing(draft: string) {
  const staged = stage();
  staged.connect(answered, 2);
  staged.screen.text = draft;
  const question = staged.chat.conversation.lastQuestion;
  assert(question);
  return { ...staged, edit: () => staged.chat.edit(question) };
}

test("what was typed before a question is edited comes back when that is sent, or given up", () => {
  const { chat, screen, edit } = typing("A long draft");
  edit();
  assert.equal(screen.text, "How much?");
  screen.text = "";
  assert.equal(screen.text, "A long draft");
  edit();
  screen.text = "How much now?";
  chat.ask("How much now?");
  assert.equal(screen.text, "A long draft");
  chat.stop();
});

test("what was typed before a question is edited outlives a reload", () => {
  const { edit, screen, store } = typing("A long draft");
  edit();
  screen.text = "How much is";
  const reloaded = stage(store);
  reloaded.chat.start();
  assert.equal(reloaded.screen.text, "How much is");
  reloaded.connect(answered, 2);
  assert.equal(reloaded.screen.text, "How much is");
  reloaded.screen.text = "";
  assert.equal(reloaded.screen.text, "A long draft");
});

test("a question being edited stays in the field when the line comes back, also after a reload", () => {
  const { edit, lose, connect, screen, store } = typing("");
  edit();
  lose();
  connect(answered, 2);
  assert.equal(screen.text, "How much?");
  const reloaded = stage(store);
  reloaded.chat.start();
  reloaded.connect(answered, 2);
  assert.equal(reloaded.screen.text, "How much?");
});

test("a question on its way is in the field after a reload until the service is known to have it", () => {
  const { chat, connect, store } = stage();
  connect();
  chat.ask("How much?");
  const key = chat.conversation.messages[0]?.key;
  chat.stop();
  const lost = stage({ ...store });
  lost.chat.start();
  lost.connect();
  assert.equal(lost.screen.text, "How much?");
  const taken = stage({ ...store });
  taken.chat.start();
  assert.equal(taken.screen.text, "How much?");
  taken.connect([{ ...answered[0], client_id: key }], 1);
  assert.deepEqual([taken.screen.text, taken.store.draft], ["", ""]);
});

test("an opinion that cannot be sent is not taken for given", () => {
  const { chat, connect, lose, said } = stage();
  connect(answered, 2);
  const [, answer] = chat.conversation.messages;
  assert(answer);
  lose();
  assert.equal(chat.opinions.rate(answer, -1, ["wrong"]), false);
  assert.match(said.at(-1) ?? "", /not sent/);
  assert.equal(chat.opinions.giveStars(5), false);
  assert.deepEqual([answer.feedback, chat.conversation.stars], [0, null]);
  connect(answered, 2);
  assert.equal(chat.opinions.rate(answer, -1), true);
  chat.stop();
});

test("what could only be refused again is not to be sent again", () => {
  const { chat, connect, hear } = stage();
  connect();
  chat.ask("???");
  const [question] = chat.conversation.messages;
  hear({ type: "error", seq: null, code: "no_words", detail: "No words in it.", client_id: question?.key });
  assert.deepEqual([question?.status, question?.retryAt], ["unsent", Infinity]);
});

test("an opinion that went over a line that was dead is told again over the next, once", () => {
  const { chat, connect, hear, lose, sent } = stage();
  connect(answered, 2);
  const [, answer] = chat.conversation.messages;
  assert(answer);
  const told = () => sent.filter(({ type }) => type === "feedback" || type === "rating").length;
  chat.opinions.rate(answer, -1, ["other"], "The amount changed.");
  chat.opinions.giveStars(2);
  lose();
  connect(answered, 2);
  assert.equal(told(), 4);
  hear({ type: "feedback", seq: 3, message: 2, value: -1 });
  hear({ type: "rating", seq: 4, stars: 2 });
  lose();
  connect(answered, 4);
  assert.equal(told(), 4);
});

test("the server learns the kind of a contact that was used, and nothing without a connection", () => {
  const { chat, connect, lose, sent } = stage();
  connect(answered, 2);
  const [, answer] = chat.conversation.messages;
  assert(answer);
  chat.opinions.useContact(answer, "phone");
  assert.deepEqual(sent.at(-1), { type: "contact", message: 2, kind: "phone" });
  lose();
  chat.opinions.useContact(answer, "email");
  connect(answered, 2);
  assert.equal(sent.filter(({ type }) => type === "contact").length, 1);
});

test("an opinion outlives that its conversation cannot be had just now", () => {
  const { chat, connect, open, hear, lose, sent } = stage();
  connect(answered, 2);
  chat.opinions.giveStars(2);
  lose();
  open();
  hear({ type: "error", seq: null, code: "unavailable", detail: "Interrupted.", retry_after: 5 });
  hear({ type: "conversation", seq: null, messages: answered, last_seq: 2 });
  assert.equal(sent.filter(({ type }) => type === "rating").length, 2);
  chat.stop();
});

test("what was no cry for help is asked again as a question, also after a broken line and a refusal", () => {
  const { chat, connect, hear, lose, asks } = stage();
  const card = { kind: "crisis", contacts: [] };
  connect(
    [
      { id: 1, role: "user", client_id: "q1", text: "How do I end it all?", status: "complete", created_at: at },
      { ...{ id: 2, role: "assistant", text: "Talk.", status: "complete", created_at: at }, help: card },
    ],
    2,
  );
  const [, answer] = chat.conversation.messages;
  assert(answer);
  chat.askAnyway(answer);
  const [first] = asks();
  assert.deepEqual([first?.text, first?.as_question], ["How do I end it all?", true]);
  assert(first?.client_id !== "q1");
  lose();
  connect([], 2);
  assert.deepEqual(asks()[1], first);
  const refusal = { type: "error", seq: null, code: "rate_limited", detail: "Too many.", retry_after: 0 };
  hear({ ...refusal, client_id: first?.client_id });
  const question = chat.conversation.findQuestion(first?.client_id);
  assert(question);
  chat.retry(question);
  assert.deepEqual([asks()[2]?.text, asks()[2]?.as_question], ["How do I end it all?", true]);
  chat.stop();
});

test("an answer that failed is asked for again in the same way", () => {
  const { chat, connect, hear, asks } = stage();
  connect();
  chat.ask("How do I end it all?", { asQuestion: true });
  const key = chat.conversation.messages[0]?.key;
  const question = { id: 1, client_id: key, text: "How do I end it all?", created_at: at };
  hear({ type: "message_start", seq: 1, question, message: { id: 2, created_at: at } });
  hear({ type: "message_end", seq: 2, message: 2, status: "failed" });
  const asked = { ...question, role: "user", status: "complete" };
  connect([asked, { id: 2, role: "assistant", text: "", status: "failed", created_at: at }], 2);
  const [, answer] = chat.conversation.messages;
  assert(answer);
  chat.retry(answer);
  assert.equal(asks()[1]?.as_question, true);
  chat.stop();
});

test("an ordinary question says nothing of it", () => {
  const { chat, connect, asks } = stage();
  connect();
  chat.ask("How much?");
  assert.equal("as_question" in (asks()[0] ?? {}), false);
  chat.stop();
});

const reply = (id: number, text: string) => ({ id, by: "office", text, asks_back: false, created_at: at });
const left = (id: number, messages: object[] = [], more: object = {}) => ({
  id,
  office: "Service",
  state: messages.length ? "replied" : "open",
  question: "May I?",
  about: null,
  opened_at: at,
  reply_due: at,
  mails: "",
  helped: null,
  messages,
  ...more,
});

test("an office's reply is read aloud once, by whichever event it comes", () => {
  const { chat, connect, hear, lose, said, store } = stage();
  connect();
  hear({ type: "case", seq: 1, case: left(7) });
  hear({ type: "case", seq: 2, case: left(7, [reply(9, "Yes, on a **lead**.")]) });
  assert.deepEqual(said.filter((text) => text.startsWith("Reply")), ["Reply: Service. Yes, on a lead."]);
  assert.equal(store.shownReply, 9);
  lose();
  connect([], 2);
  hear({ type: "case", seq: 3, case: left(7, [reply(9, "Yes, on a **lead**.")], { helped: true }) });
  assert.equal(said.filter((text) => text.startsWith("Reply")).length, 1);
  chat.stop();
});

test("what came while it was closed is a sign on the launcher, and is read aloud once it is opened", () => {
  const { chat, connect, hear, screen, said, store } = stage();
  connect();
  Object.assign(screen, { isSeen: false });
  hear({ type: "case", seq: 1, case: left(7, [reply(9, "Yes.")]) });
  assert.deepEqual([said.includes("news"), store.shownReply], [true, 0]);
  Object.assign(screen, { isSeen: true });
  chat.replies.tell({ lead: true });
  assert.deepEqual(said.slice(-2), ["Reply: Service. Yes.", "case 7"]);
  chat.stop();
});

test("a reply in another conversation is said, and its own tab shows it", () => {
  const { chat, connect, hear, said } = stage();
  connect();
  hear({ type: "case", seq: 4, conversation: "another", case: left(7, [reply(9, "Yes.")]) });
  assert.match(said.at(-1) ?? "", /another of your conversations: Service/);
  assert.deepEqual(chat.conversation.cases, []);
  chat.stop();
});

test("a chat that waits for an office listens for a while after the expected time", () => {
  const { chat, connect, hear, store } = stage();
  connect();
  assert.equal(store.listensUntil, 0);
  hear({ type: "case", seq: 1, case: left(7) });
  assert.equal(store.listensUntil > Date.parse(at), true);
  chat.stop();
});
