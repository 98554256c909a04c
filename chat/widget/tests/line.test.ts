import assert from "node:assert/strict";
import test from "node:test";
import type { LineOptions } from "../src/net/line.ts";
import { SocketLine } from "../src/net/socket_line.ts";

type Told = { data?: unknown; code?: number };

class FakeSocket {
  static readonly OPEN = 1;
  static all: FakeSocket[] = [];
  readyState = 0;
  sent: string[] = [];
  #heard: Record<string, (event: Told) => void> = {};

  constructor() {
    FakeSocket.all.push(this);
  }

  addEventListener(name: string, heard: (event: Told) => void): void {
    this.#heard[name] = heard;
  }

  send(text: string): void {
    this.sent.push(text);
  }

  close(): void {
    this.readyState = 3;
  }

  tell(name: string, event: Told = {}): void {
    if (name === "open") this.readyState = FakeSocket.OPEN;
    this.#heard[name]?.(event);
  }
}

const soon = () => new Promise((resolve) => setTimeout(resolve, 0));

/** A line whose session takes as long as `token` does; `conversation` is what the tab shows. */
function stage(token: Promise<string>) {
  FakeSocket.all = [];
  Object.assign(globalThis, { WebSocket: FakeSocket, window: { setTimeout: () => 0 } });
  const told: string[] = [];
  const state = { conversation: "first" };
  const options: LineOptions = {
    origin: "http://localhost",
    greet: async () => ({ type: "resume", token: await token, conversation: state.conversation, after: null }),
    onOpen: () => told.push("open"),
    onFrame: () => told.push("frame"),
    onLost: (worked) => told.push(`lost ${worked}`),
  };
  return { line: new SocketLine(options), told, state };
}

test("no socket is opened before there is a token to send over it, however slow the network is", async () => {
  let arrive: (token: string) => void = () => undefined;
  const { told } = stage(new Promise((resolve) => (arrive = resolve)));
  await soon();
  assert.equal(FakeSocket.all.length, 0);
  arrive("t");
  await soon();
  assert.equal(FakeSocket.all.length, 1);
  FakeSocket.all[0]?.tell("open");
  await soon();
  assert.deepEqual(told, ["open"]);
  assert.equal(JSON.parse(FakeSocket.all[0]?.sent[0] ?? "{}").token, "t");
});

test("the first frame names the conversation that is shown once the socket is open", async () => {
  const { state } = stage(Promise.resolve("t"));
  await soon();
  state.conversation = "second";
  FakeSocket.all[0]?.tell("open");
  await soon();
  assert.equal(JSON.parse(FakeSocket.all[0]?.sent[0] ?? "{}").conversation, "second");
});

test("a socket that the service closed for want of a token counts as one over which nothing came", async () => {
  const { told } = stage(Promise.resolve("t"));
  await soon();
  FakeSocket.all[0]?.tell("close", { code: 4401 });
  assert.deepEqual(told, ["lost false"]);
});

test("a line that is closed while it waits for a token opens no socket", async () => {
  let arrive: (token: string) => void = () => undefined;
  const { line, told } = stage(new Promise((resolve) => (arrive = resolve)));
  line.close();
  arrive("t");
  await soon();
  assert.equal(FakeSocket.all.length, 0);
  assert.deepEqual(told, []);
});

test("without a session the line is lost, and no socket is opened", async () => {
  const { told } = stage(Promise.reject(new Error("unreachable")));
  await soon();
  assert.equal(FakeSocket.all.length, 0);
  assert.deepEqual(told, ["lost false"]);
});
