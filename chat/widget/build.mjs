// Builds the widget: src/ -> ../static/chat/widget/v1.js, or another file named on the command line. The same source
// gives the same bytes.

import { transform, build } from "esbuild";
import { readFileSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const TARGET = ["chrome104", "edge104", "firefox104", "safari16"];
const version = (name) => JSON.parse(readFileSync(`${HERE}node_modules/${name}/package.json`, "utf8")).version;

const BANNER = `/*! The MarcelCMS chat widget. MIT licence. Contains:
marked ${version("marked")} (c) 2018-2026 MarkedJS, (c) 2011-2018 Christopher Jeffrey, MIT licence, https://github.com/markedjs/marked */`;

/** A style sheet is a string in the bundle, small as the code around it. */
const sheets = {
  name: "sheets",
  setup({ onLoad }) {
    onLoad({ filter: /\.css$/ }, async ({ path }) => {
      const { code } = await transform(await readFile(path, "utf8"), { loader: "css", minify: true, target: TARGET });
      return { contents: code.trim(), loader: "text" };
    });
  },
};

/**
 * Of marked only what is used: not the ready-made instance of itself at its end, which would keep all of it, and not
 * the rules of its oldest dialect. The names of its rules, which nobody but marked calls, become short.
 */
const markedsParts = {
  name: "marked's parts",
  setup({ onLoad }) {
    onLoad({ filter: /marked\.esm\.js$/ }, async ({ path }) => {
      const code = await readFile(path, "utf8");
      const names =
        /export\s*\{([^}]*)\}/
          .exec(code)?.[1]
          .split(",")
          .map((name) => name.trim()) ?? [];
      const kept = names.filter((name) => / as (Lexer|Parser|Renderer|Tokenizer|getDefaults)$/.test(name));
      const end = code.search(/var \w+=new \w+;function \w+\(\w+,\w+\)\{return \w+\.parse\(/);
      const maker = /function (\w+)\(\w+,\w+=""\)\{let \w+=typeof \w+=="string"/.exec(code)?.[1];
      const oldest = [...code.matchAll(/,pedantic:(\w+)\}/g)].map(([, name]) => name);
      const rules = code.slice(0, code.indexOf("=class"));
      const long = [...rules.matchAll(/[{,](\w*[a-z][A-Z]\w*):/g)].map(([, name]) => name);
      if (kept.length !== 5 || end < 0 || !maker || oldest.length !== 2 || !long.includes("blockSkip"))
        throw new Error("marked is built in another way than before");
      const parts = oldest.reduce(
        (rest, name) =>
          rest
            .replace(new RegExp(`,${name}=\\{\\.{3}[^]*?\\.getRegex\\(\\)\\}`), "")
            .replace(`,pedantic:${name}}`, "}"),
        // A rule that is made and not used is left out.
        code.slice(0, end).replace(new RegExp(`(?<=[=,:(])${maker}\\(`, "g"), `/* @__PURE__ */${maker}(`),
      );
      const short = { mangleProps: new RegExp(`^(${long.join("|")})$`), target: TARGET };
      return { contents: (await transform(`${parts}export{${kept.join(",")}};`, short)).code };
    });
  },
};

export const OPTIONS = {
  absWorkingDir: HERE,
  bundle: true,
  legalComments: "none",
  logLevel: "warning",
  plugins: [sheets, markedsParts],
  target: TARGET,
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
  await main(process.argv[2] ?? `${HERE}../static/chat/widget/v1.js`);
}
