// Builds the editor: src/ -> ../static/core/editor/editor.js, or another file named on the command line. The same
// source gives the same bytes.

import { build } from "esbuild";
import { readFileSync, readdirSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const about = (name) => JSON.parse(readFileSync(`${HERE}node_modules/${name}/package.json`, "utf8"));
const named = (pattern) =>
  readdirSync(`${HERE}node_modules`)
    .filter((name) => pattern.test(name))
    .map((name) => `${name} ${about(name).version}`)
    .join(", ");

const BANNER = `/*! The editor of formatted text of MarcelCMS. MIT licence. Contains:
${named(/^(prosemirror-|orderedmap|rope-sequence|w3c-keyname)/)}
(c) 2015-2026 Marijn Haverbeke and others, MIT licence, https://prosemirror.net
${named(/^(markdown-it|linkify-it|mdurl|uc\.micro)$/)} (c) 2014-2026 Vitaly Puzrin, Alex Kocharin, MIT licence, https://github.com/markdown-it
${named(/^punycode\.js$/)} (c) Mathias Bynens, MIT licence, https://github.com/mathiasbynens/punycode.js
${named(/^entities$/)} (c) Felix Boehm, BSD-2-Clause licence, https://github.com/fb55/entities */`;

export const OPTIONS = {
  absWorkingDir: HERE,
  // Of entities only their reading: the tables for writing them are as large again.
  alias: { entities: `${HERE}node_modules/entities/lib/esm/decode.js` },
  bundle: true,
  charset: "utf8",
  legalComments: "none",
  logLevel: "warning",
  target: ["chrome104", "edge104", "firefox104", "safari16"],
};

async function main(out) {
  const result = await build({
    ...OPTIONS,
    entryPoints: ["src/main.ts"],
    format: "iife",
    minify: true,
    banner: { js: BANNER },
    write: false,
  });
  await mkdir(dirname(out), { recursive: true });
  await writeFile(out, result.outputFiles[0].contents);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await main(process.argv[2] ?? `${HERE}../static/core/editor/editor.js`);
}
