import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import test from "node:test";
import { ELEMENTS, blocks } from "../src/text/markdown.ts";
import { settled } from "../src/text/streaming.ts";

const html = (text: string) => blocks(text).join("\n");

/** Every "<" begins one of the elements, bare. */
function isPlain(text: string): boolean {
  return [...text.matchAll(/<(\/?)([a-z]*)([^>]*)>|</g)].every(
    ([, , name, rest]) => name !== undefined && ELEMENTS.includes(name) && /^(| start="\d+")$/.test(rest ?? ""),
  );
}

const withoutLinks = (text: string) => text.replace(/<a href="[^"<>]*">|<\/a>/g, "");

test("an answer's usual Markdown becomes elements", () => {
  assert.equal(html("It is **318 euros** [1].\nNow."), "<p>It is <strong>318 euros</strong> <sup>1</sup>.<br>Now.</p>");
  assert.equal(
    html("## Fees\n\n- one\n- two [1, 2]").replace(/\n/g, ""),
    "<p><strong>Fees</strong></p><ul><li>one</li><li>two <sup>1, 2</sup></li></ul>",
  );
  assert.match(html("| a | b |\n|---|---|\n| 1 | 2 |"), /^<table>\s*<thead>\s*<tr>\s*<th>a<\/th>/);
  assert.match(html("3. third\n4. fourth"), /^<ol start="3">/);
  assert.match(html("• one\n• two"), /^<ul>/);
});

test("no link, image, address or markup of a text is passed on", () => {
  assert.equal(
    html("See [the page](https://evil.example/) and ![a picture](https://evil.example/x.png)"),
    "<p>See the page and a picture</p>",
  );
  assert.equal(html("[go](javascript:alert(1))"), "<p>go</p>");
  assert.equal(
    html("https://evil.example and <https://evil.example>"),
    "<p>https://evil.example and &lt;https://evil.example&gt;</p>",
  );
  assert.equal(html("<b onclick=x>bold</b>"), "<p>&lt;b onclick=x&gt;bold&lt;/b&gt;</p>");
  assert.match(html('<script>alert("x")</script>'), /^<p>&lt;script&gt;/);
  assert.equal(
    html("[1]\n\n[1]: https://evil.example"),
    "<p><sup>1</sup></p>\n<p><sup>1</sup>: https://evil.example</p>",
  );
  assert.equal(
    html("`<img src=x>` and\n\n```html\n<img src=x>\n```"),
    "<p><code>&lt;img src=x&gt;</code> and</p>\n<pre><code>&lt;img src=x&gt;</code></pre>",
  );
});

test("what an office links to is a link, and nothing else in its words", () => {
  const linked = (text: string) => blocks(text, true).join("\n");
  assert.equal(
    linked("The [**form** & more](https://uni.example/a?b=1&c=%22) [2](https://uni.example)."),
    '<p>The <a href="https://uni.example/a?b=1&amp;c=%22"><strong>form</strong> &amp; more</a> ' +
      '<a href="https://uni.example">2</a>.</p>',
  );
  assert.equal(linked('[go](<https://x.example/" onclick="x>)').match(/"/g)?.length, 2);
  assert.equal(
    linked('<a href="https://evil.example">x</a> https://evil.example ![a](https://evil.example/x.png) [1]'),
    "<p>&lt;a href=&quot;https://evil.example&quot;&gt;x&lt;/a&gt; https://evil.example a <sup>1</sup></p>",
  );
});

test("what pages contain is not taken for Markdown", () => {
  assert.equal(html("from ~10 to ~20 euros"), "<p>from ~10 to ~20 euros</p>");
  assert.equal(html("    indented words").replace("<p>    ", "<p>"), "<p>indented words</p>");
  assert.equal(html("Fees\n===="), "<p>Fees<br>====</p>");
});

test("no payload makes an element or attribute that is not on the list", () => {
  const folder = process.env["XSS_PAYLOADS"];
  if (!folder || !existsSync(folder)) return;
  const lines = readFileSync(`${folder}/xss-payloads.txt`, "utf8").split("\n");
  const cases = JSON.parse(readFileSync(`${folder}/xss-dompurify.json`, "utf8")) as Array<{ payload: string }>;
  const payloads = [...lines, ...cases.map(({ payload }) => payload)];
  assert(payloads.length > 1000);
  for (const payload of payloads) {
    for (const text of [
      payload,
      `[1] ${payload}`,
      `- **x**\n- ${payload}`,
      `| a |\n|---|\n| ${payload} |`,
      `\`${payload}`,
      `[${payload}](${payload})`,
    ]) {
      assert(isPlain(html(text)), text);
      assert(isPlain(html(settled(text))), text);
      assert(isPlain(withoutLinks(blocks(text, true).join("\n"))), text);
    }
  }
});

const ANSWER =
  "The fee is **318.40 euros** [1]. See *here* and `code`:\n\n- until **15 July** for winter\n- until 15 January [1, 2]\n\n" +
  "1. first\n2. second\n\n| Part | Euros |\n| --- | ---: |\n| Ticket | 196.20 |\n| Union | 12.20 |\n\n### Late\n\nThat costs ~~5~~ 10 euros. [A page](https://x.example/a) says\n\n```\ncode ** here\n```\n\n---\n\n> quoted\n\nEnd.";

test("while an answer is written, no sign is shown that the next words take back", () => {
  const words = (text: string) =>
    html(text)
      .replace(/<pre>.*?<\/pre>/gs, "")
      .replace(/<sup>.*?<\/sup>/g, "")
      .replace(/<[^>]*>/g, "");
  for (let length = 1; length <= ANSWER.length; length += 1) {
    const shown = words(settled(ANSWER.slice(0, length)));
    assert.doesNotMatch(
      shown,
      /\*\*|\*\w|~~|\||\[|\]\(|https?:|^#|^-{2,}|`/m,
      JSON.stringify(ANSWER.slice(Math.max(0, length - 30), length)),
    );
  }
});

test("what was shown of an answer stays as it is while more is written", () => {
  let before = "";
  for (let length = 1; length <= ANSWER.length; length += 1) {
    const now = html(settled(ANSWER.slice(0, length))).replace(/<[^>]*>|\s/g, "");
    const common = [...before].findIndex((letter, index) => now[index] !== letter);
    assert(common < 0 || before.length - common <= 1, `${before.slice(-40)} -> ${now.slice(-40)}`);
    before = now;
  }
});

test("a settled text that is complete is itself", () => {
  assert.equal(settled(`${ANSWER}\n`), `${ANSWER}\n`);
  assert.equal(settled("Done."), "Done.");
});
