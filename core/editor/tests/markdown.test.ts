// Text that goes through the editor.

import assert from "node:assert/strict";
import { test } from "node:test";
import { open } from "../src/markdown/obstacles.ts";
const TEXT = `# Library

The **library** is *open*; see the [hours](https://uni.example/hours) or [fees][3].

* one
* two

  more
    * deeper

1) first
2) second

| Day | Hours |
|:--|--:|
| Mo | 9 \\| 10 |
| Tu | \`x\` |

> quoted
> text

\`\`\`py
x = "a"

y
\`\`\`

Setext
------
<!-- page 2 -->
Line with a & b, 3 * 4, snake_case [1] <mailto:a@b.example>  
next
***
end\n\n`;
test("opens", () => {
  const source = open(TEXT);
  if (typeof source === "string") assert.fail(source);
  assert.equal(source.write(source.doc), TEXT);
  console.log(source.doc.toString());
});
