import assert from "node:assert/strict";
import test from "node:test";
import { CaseDrafts } from "../src/chat/case_drafts.ts";
import { Cases } from "../src/chat/cases.ts";
import type { Chat } from "../src/chat/chat.ts";
import type { Library } from "../src/chat/library.ts";
import { Problem } from "../src/net/http.ts";
import { dueOf } from "../src/text/times.ts";

test("drafts are kept one by one, and the last leaves nothing behind", () => {
  const store = { caseDrafts: "" };
  const drafts = new CaseDrafts(store);
  drafts.keep("a", { clientId: "1", text: "one" });
  drafts.keep("b", { clientId: "2", text: "two" });
  drafts.drop("a");
  assert.deepEqual([drafts.read("a"), new CaseDrafts(store).read("b")?.text], [null, "two"]);
  drafts.drop("b");
  assert.equal(store.caseDrafts, "");
});

test("what could not be sent is sent again as the same message, and then forgotten", async () => {
  const sent: string[] = [];
  let reachable = false;
  const library = {
    writeToOffice: async (_id: number, { client_id: clientId, text }: { client_id: string; text: string }) => {
      sent.push(`${clientId} ${text}`);
      if (!reachable) throw new Problem(0, "unreachable", "");
    },
  } as unknown as Library;
  const chat = { conversation: { id: "c1" }, putCase: () => undefined } as unknown as Chat;
  const cases = new Cases(library, { caseDrafts: "" }, () => chat);
  cases.type(7, "It is ");
  cases.type(7, "It is small. ");
  await assert.rejects(cases.write(7));
  assert.equal(cases.typed(7), "It is small. ");
  reachable = true;
  await cases.write(7);
  assert.equal(cases.typed(7), "");
  assert.equal(sent.length, 2);
  assert.equal(sent[0], sent[1]);
  assert.match(sent[0] ?? "", / It is small\.$/);
});

test("the expected time is said in the reader's language and on the office's clock", () => {
  const due = "2026-11-26T17:00:00+05:30";
  assert.equal(dueOf(due, "en"), "Thursday 26 November, 17:00");
  assert.equal(dueOf(due, "de"), "Donnerstag, 26. November, 17:00");
  assert.equal(dueOf("soon", "en"), "");
});
