import assert from "node:assert/strict";
import test from "node:test";
import type { Node } from "prosemirror-model";
import { MOST_CHARACTERS, open } from "../src/markdown/obstacles.ts";
import { readMarkdown } from "../src/markdown/read.ts";
import type { Source } from "../src/markdown/source.ts";
import { writeBlock } from "../src/markdown/write.ts";
import { schema } from "../src/schema.ts";

/** As no single hand would write it: each block in another way. */
const PAGE = `
# Library #

The __library__ is *open*; see the
[hours](https://uni.example/hours "All of them") or [fees][3].
* one
* two

  more
    * deeper

1) first
2) second

Day|Hours
:--|--:
Mo | 9 \\| 10
Tu | \`x\`

> quoted
text

~~~py
x = "a"

y
~~~

    indented

Setext
------
<!-- page 2 -->
Line with a & b, 3 * 4, snake_case [1] <mailto:a@b.example>  
next\\
last
***
end &amp; &copy;

`;

function opened(text: string): Source {
  const source = open(text);
  if (typeof source === "string") assert.fail(source);
  return source;
}

/** Return the text after the block that has these words got others. */
function edited(text: string, words: string, others: string): string {
  const source = opened(text);
  const change = (node: Node): Node => {
    if (!node.textContent.includes(words)) return node;
    if (node.isText) return schema.text((node.text ?? "").replace(words, others), node.marks);
    return node.copy(node.content.content.reduce((all, each, i) => all.replaceChild(i, change(each)), node.content));
  };
  const { doc } = source;
  return source.write(doc.copy(doc.content.content.reduce((all, each, i) => all.replaceChild(i, change(each)), doc.content)));
}

test("a text that nobody touches keeps its bytes", () => {
  for (const text of [PAGE, "", "\n", "a", "a\n\n\n\nb\n", "\t- x\n", " a  \n b "]) {
    const source = opened(text);
    assert.equal(source.write(source.doc), text);
  }
});

test("an edit changes its own block alone", () => {
  assert.equal(edited(PAGE, "end ", "the end "), PAGE.replace("end &amp; &copy;", "the end & ©"));
  assert.equal(edited(PAGE, "Setext", "Else"), PAGE.replace("Setext\n------\n", "## Else\n"));
  assert.equal(
    edited(PAGE, "Mo", "Mon"),
    PAGE.replace(
      "Day|Hours\n:--|--:\nMo | 9 \\| 10\nTu | `x`",
      "| Day | Hours |\n| :-- | --: |\n| Mon | 9 \\| 10 |\n| Tu | `x` |",
    ),
  );
  assert.equal(edited("* a\n    * b\n+ c", "b", "d"), "* a\n  * d\n+ c");
});

test("further, removed and moved blocks leave the others as they were", () => {
  const source = opened("a\n\n\n* b\n\n\nc\n");
  const [a, b, c] = source.doc.content.content as [Node, Node, Node];
  const further = schema.node("heading", { level: 2 }, schema.text("New"));
  const write = (...nodes: Node[]) => source.write(schema.node("doc", null, nodes));
  assert.equal(write(a, further, b, c), "a\n\n## New\n\n* b\n\n\nc\n");
  assert.equal(write(a, c), "a\n\nc\n");
  assert.equal(write(c, a, b), "c\n\na\n\n* b\n");
  assert.equal(write(a, b, c, schema.node("paragraph")), "a\n\n\n* b\n\n\nc\n");
});

test("signs are escaped only where they would be read as something else", () => {
  const written = (text: string) => writeBlock(schema.node("paragraph", null, schema.text(text)));
  for (const plain of ["3 * 4", "snake_case", "[1]", "AT&T", "a < b", "Hi!", "no. 1", "C#", "50 %", "https://a.example/x_y"])
    assert.equal(written(plain), plain);
  for (const marked of ["*a*", "_a_", "`a`", "[a](https://b.example)", "# a", "- a", "1. a", "1) a", "> a", "a&amp;b", "~~a~~", "***", "<!-- page 3 -->", "| a |\n", "[a][3]", "\\*"]) {
    const again = readMarkdown(written(marked));
    assert.equal(again.toString(), schema.node("doc", null, schema.node("paragraph", null, schema.text(marked.trim()))).toString());
  }
});

test("formatted text is written and read as the same", () => {
  const bold = schema.marks.strong.create();
  const link = schema.marks.link.create({ href: "https://uni.example/a(b) c" });
  const texts = [schema.text("a ", [bold]), schema.text("b", [link, bold]), schema.text(" c")];
  assert.equal(writeBlock(schema.node("paragraph", null, texts)), "**a [b](<https://uni.example/a(b) c>)** c");
  const code = schema.text("a`b", [schema.marks.code.create()]);
  assert.equal(writeBlock(schema.node("paragraph", null, code)), "``a`b``");
  assert.equal(writeBlock(schema.node("code_block", null, schema.text("```\na"))), "````\n```\na\n````");
});

test("what would be lost keeps a text as Markdown, with the reason", () => {
  const reasons = {
    html: ["a <b>c</b>", "<table><tr><td rowspan=2>a</td></tr></table>", "<!-- note -->"],
    footnotes: ["a[^1]\n\n[^1]: A note.", "a[^note]"],
    definitions: ["[a]\n\n[a]: https://a.example"],
    table: ["| a |\n|---|\n| b | c |"],
    long: ["a".repeat(MOST_CHARACTERS + 1)],
  };
  for (const [reason, texts] of Object.entries(reasons)) for (const text of texts) assert.equal(open(text), reason, text);
  for (const fine of ["a < b > c", "<https://a.example>", "| a |\n|---|\n| b \\| c |", "<!-- page 12 -->"]) opened(fine);
});

test("an address that the server makes no link of stays as it is written", () => {
  for (const text of ["[a](javascript:alert(1))", "[a](/path)", "[a](data:text/html,b)"]) {
    const { doc } = opened(text);
    assert.equal(doc.textContent, text);
    assert.equal(writeBlock(doc.child(0)), text);
  }
});

test("a long text opens and is written in time", () => {
  const text = `${PAGE}\n`.repeat(Math.floor(MOST_CHARACTERS / PAGE.length) - 1);
  const begin = performance.now();
  const source = opened(text);
  assert.equal(source.write(source.doc), text);
  assert(performance.now() - begin < 5_000);
});
