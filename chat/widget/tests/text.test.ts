import assert from "node:assert/strict";
import test from "node:test";
import { SseReader } from "../src/net/sse.ts";
import { waitAfter } from "../src/net/connection.ts";
import { readEvent } from "../src/net/shapes.ts";
import { contrast, palette, readColour } from "../src/text/colours.ts";
import { mailAddress, phoneAddress, webAddress } from "../src/text/links.ts";
import { plain } from "../src/text/plain.ts";
import { quotedBlocks } from "../src/text/quoted.ts";
import { finishedUpTo, spoken } from "../src/text/sentences.ts";

const said = (text: string) => text.slice(0, finishedUpTo(text, 0));

test("only finished sentences are read out", () => {
  assert.equal(said("The fee is 318.40 euros. It is"), "The fee is 318.40 euros.");
  assert.equal(said("The fee is 318."), "");
  assert.equal(said("It is due [1]. Then"), "It is due [1].");
  assert.equal(said("It is due. [1] Then"), "It is due.");
  assert.equal(said("- one\n- tw"), "- one\n");
});

test("a full stop that ends no sentence does not end one", () => {
  assert.equal(said("Das gilt z. B. für Dr. Meier ab dem 3. Oktober bis"), "");
  assert.equal(said("Siehe Abs. 2 der Ordnung. Und"), "Siehe Abs. 2 der Ordnung.");
});

test("a growing answer is read out whole and once", () => {
  const text = "The fee is **318.40 euros** [1]. Pay it z. B. online! Is it late?\n- one\n- two. End";
  let at = 0;
  let heard = "";
  for (let length = 1; length <= text.length; length += 1) {
    const end = finishedUpTo(text.slice(0, length), at);
    heard += text.slice(at, end);
    at = end;
  }
  assert.equal(heard + text.slice(at), text);
});

test("signs and numbers of sources are not read out", () => {
  assert.equal(spoken("- The **fee** is `318` [1, 2]."), "The fee is 318.");
  assert.equal(spoken("| Hall | Rent |\n| --- | :--- |\n| North | 240 |"), "Hall Rent North 240");
  assert.equal(plain("The **fee** [1]", { markers: true }), "The fee [1]");
});

test("only web pages and plain addresses become links", () => {
  assert.equal(webAddress("https://uni.example/a b"), "https://uni.example/a%20b");
  for (const bad of [
    "javascript:alert(1)",
    "data:text/html,x",
    "//evil.example",
    "ftp://x",
    " JaVaScRiPt:1",
    "https://",
    null,
    3,
  ])
    assert.equal(webAddress(bad), null);
  assert.equal(mailAddress("a@uni.example"), "mailto:a@uni.example");
  for (const bad of ["a@b?cc=c@d", "a@b c", "javascript:x", "<a@b>"]) assert.equal(mailAddress(bad), null);
});

test("every pair of text and ground can be read, whatever colour a site has", () => {
  const grounds = { light: ["#ffffff", "#f6f7f9"], dark: ["#171c23", "#11151b", "#1d242d"] };
  for (const colour of [
    "#1d4f7c",
    "#ffcc00",
    "#ffffff",
    "#000000",
    "#777777",
    "#e30613",
    "#00ff00",
    "rgb(12, 34, 56)",
  ]) {
    for (const dark of [false, true]) {
      const accent = readColour(colour);
      assert(accent);
      const found = palette(accent, { dark, text: readColour("#888888") });
      assert(contrast(found.accentText, found.accent) >= 4.5, colour);
      assert(contrast(found.accentText, found.accentStrong) >= 4.5, `${colour} strong`);
      const surfaces = (dark ? grounds.dark : grounds.light).map((ground) => readColour(ground));
      for (const surface of [...surfaces, found.accentSoft])
        assert(surface && contrast(found.link, surface) >= 4.5, colour);
      const ink = readColour(dark ? "#e8ecf2" : "#1a2230");
      assert(ink && contrast(ink, found.accentSoft) >= 4.5, `${colour} soft`);
    }
  }
  assert.equal(readColour("oklch(0.5 0.1 20)"), null);
});

test("events are read from a stream however it is cut", () => {
  const stream = 'id: 1\ndata: {"a":1}\n\n: alive\n\nevent: x\r\ndata: {"b":\r\ndata: 2}\r\n\r\n';
  for (const size of [1, 3, 1000]) {
    const reader = new SseReader();
    const found: string[] = [];
    for (let at = 0; at < stream.length; at += size) found.push(...reader.push(stream.slice(at, at + size)));
    assert.deepEqual(found, ['{"a":1}', '{"type":"ping"}', '{"b":\n2}'], String(size));
  }
});

test("the wait before the next line doubles up to a limit, at random by half", () => {
  assert.deepEqual(
    [0, 1, 2, 10].map((n) => waitAfter(n, 1)),
    [500, 1000, 2000, 15_000],
  );
  assert.deepEqual(
    [0, 1, 2, 10].map((n) => waitAfter(n, 0)),
    [250, 500, 1000, 7_500],
  );
});

test("only what has the protocol's shape goes on", () => {
  const delta = { type: "message_delta", seq: 1, conversation: "c", message: 2, text: "x" };
  assert.deepEqual(readEvent(delta), delta);
  assert.deepEqual(readEvent({ ...delta, more: 1 }), { ...delta, more: 1 });
  assert.deepEqual(readEvent({ ...delta, text: 5 }), { type: "unknown", seq: 1, conversation: "c" });
  assert.deepEqual(readEvent({ type: "later", seq: 7, conversation: "c" }), {
    type: "unknown",
    seq: 7,
    conversation: "c",
  });
  for (const bad of [null, 1, "x", [], {}, { type: "later" }, { ...delta, seq: "1", conversation: "c" }])
    assert.equal(readEvent(bad), null);
});

test("a number that can be called is one: digits, after a plus at most", () => {
  for (const [written, called] of [
    ["112", "tel:112"],
    ["0800 111 0 111", "tel:08001110111"],
    ["+49 (0)6421 28-22222", "tel:+4964212822222"],
    ["06421/28-22222", "tel:064212822222"],
    ["(06421) 28 222", "tel:0642128222"],
  ])
    assert.equal(phoneAddress(written), called);
  for (const other of ["", "  ", "-", "110 or 112", "0800 111 0 111, 0800 111 0 222", "1".repeat(16), "javascript:1", 112])
    assert.equal(phoneAddress(other), null);
});

test("what is quoted is read aloud in the language of its page, once its number is there", () => {
  const page = { n: 1, title: "", url: "", heading: "", page: null, quote: "", language: "de" };
  const before = "This page is in German:\n\n";
  const quote = "„Ein Platz kostet 230 Euro. Geöffnet ist:“";
  assert.deepEqual(quotedBlocks(`${before}${quote} [1`, [page]), [
    [before, ""],
    [`${quote} [1`, null],
  ]);
  const text = `${before}${quote} [1]\n\n- Montag\n- Dienstag\n\nA place is 230 euros [1].\n\n- one`;
  const blocks = quotedBlocks(text, [page]).filter(([words]) => words);
  assert.equal(blocks.map(([words]) => words).join(""), text);
  assert.deepEqual(
    blocks.map(([, language]) => language),
    ["", "de", "de", "", ""],
  );
  const table = quotedBlocks("**Öffnungszeiten** [1]\n\n| Tag | Zeit |\n| --- | --- |\n\nMore", [page]);
  assert.deepEqual(
    table.map(([, language]) => language),
    ["de", "de", ""],
  );
});
