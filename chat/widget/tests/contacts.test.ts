import assert from "node:assert/strict";
import test from "node:test";
import { withContacts } from "../src/text/contacts.ts";

const addresses = (text: string) => withContacts(text).flatMap(({ address }) => (address ? [address] : []));

test("addresses and numbers can be tapped, and the text stays whole", () => {
  const text = "Call +49 (0)6421 28-22222 or 06421/28 22222, or write to a.b@uni.example. Room 01 234.";
  assert.deepEqual(addresses(text), ["tel:+4964212822222", "tel:064212822222", "mailto:a.b@uni.example"]);
  assert.equal(withContacts(text).map((piece) => piece.text).join(""), text);
});

test("dates, sums, accounts and other numbers are no telephone numbers", () => {
  for (const text of [
    "until 01.10.2026",
    "01-10-2026",
    "2026-10-01",
    "DE02 1203 0000 0000 2020 51",
    "318.40 euros, 0.5 %, 10 000 books",
    "matriculation number 0123456",
    "from 08 to 12",
    "@home a@b <x@y>",
  ])
    assert.deepEqual(addresses(text), [], text);
});
