// Builds the widget: src/ -> ../static/chat/widget/v1.js, or another file named on the command line. The same source
// gives the same bytes.

import { parse } from "acorn";
import { transform, build } from "esbuild";
import { minify } from "terser";
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

/** The German words without their names: they stand in the order of the English ones. */
const germanWords = {
  name: "German words",
  setup({ onLoad }) {
    onLoad({ filter: /words[/\\]de\.ts$/ }, async ({ path }) => {
      const [de, en] = await Promise.all([wordsOf(path, "de"), wordsOf(path.replace(/de\.ts$/, "en.ts"), "en")]);
      const inOrder = JSON.stringify(Object.keys(en).map((name) => de[name]));
      const named = `Object.fromEntries(Object.keys(en).map((name, i) => [name, words[i]]))`;
      return { contents: `import { en } from "./en.ts"; const words = ${inOrder}; export const de = ${named};` };
    });
  },
};

async function wordsOf(path, language) {
  const { code } = await transform(await readFile(path, "utf8"), { loader: "ts" });
  return (await import(`data:text/javascript,${encodeURIComponent(code)}`))[language];
}

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
      const short = { mangleProps: new RegExp(`^(${[...long, ...OWN].join("|")})$`), target: TARGET };
      const used = SET.reduce(
        (rest, [name, value]) => rest.replaceAll(`this.options.${name}`, value),
        withoutReplaced(`${parts}export{${kept.join(",")}};`).replace(FOR_PICTURES, ""),
      );
      return { contents: (await transform(used, short)).code };
    });
  },
};

/** Methods that src/text/markdown.ts puts others in the place of, by one that tells the class, and rules of theirs alone. */
const REPLACED = {
  lheading: ["html", "tag", "autolink", "url", "def", "reflink", "code", "lheading"],
  checkbox: ["html", "hr", "image", "checkbox", "code", "codespan", "heading", "link", "tablecell"],
};
/** Links defined elsewhere, again. */
const LINKED_ELSEWHERE = /Object\.hasOwn\(this\.tokens\.links,/;
/** Short ways in, of which src/text/markdown.ts uses one. */
const WAYS_IN = ["lex", "lexInline", "parseInline", "rules"];
/** What is asked where an extension gave nothing, which the one of src/text/markdown.ts never does; and of kinds unknown. */
const NEVER_NOTHING = /^\w+!==!1\|\|!\[[^\]]+\]\.includes\(\w+\.type\)$/;
const UNKNOWN_KIND = /^default:.*was not found/;
const RULES = ["html", "url", "def", "reflink", "nolink", "reflinkSearch", "_backpedal"];
/** What is asked of those methods, of links defined elsewhere, and of extensions that src/text/markdown.ts does not have. */
const ASKED = /^this\.tokens\.links&&|this\.(tokenizer\.(html|tag|autolink|url|def|reflink|code|lheading)\(|options\.extensions\?\.(block|startBlock)\b)/;
/** Options that src/text/markdown.ts sets, or leaves alone. */
const SET = [["pedantic", "!1"], ["gfm", "!0"], ["breaks", "!0"], ["hooks", "null"], ["silent", "!1"]];
/** What reads the alternatives of pictures, which src/text/markdown.ts shows as they are. */
const FOR_PICTURES = /,this\.textRenderer=new \w+,this\.textRenderer\.parser=this/;
/** Marked's own fields and methods, which nobody else calls. */
const OWN = ["blockTokens", "infiniteLoopError", "inLink", "inlineQueue", "inlineTokens", "inRawBlock", "linkEmitted"];

function withoutReplaced(code) {
  const cuts = [];
  const look = (node) => {
    const named = (part) => part.key?.name;
    if (node.type === "IfStatement" && !node.alternate && ASKED.test(code.slice(node.test.start, node.test.end))) {
      cuts.push([node.start, node.end, ";"]);
      return;
    }
    const written = code.slice(node.start, node.end);
    if (node.type === "LogicalExpression" && NEVER_NOTHING.test(written)) {
      cuts.push([node.start, node.end, "!0"]);
      return;
    }
    if (
      (node.type === "ForOfStatement" && LINKED_ELSEWHERE.test(written)) ||
      (node.type === "SwitchCase" && UNKNOWN_KIND.test(written)) ||
      (node.type === "MethodDefinition" && node.static && WAYS_IN.includes(named(node)))
    ) {
      cuts.push([node.start, node.end, ""]);
      return;
    }
    // The short class beside them reads alternatives of pictures.
    if (node.type === "ClassBody" && node.body.length > 20) {
      const sign = Object.keys(REPLACED).find((name) => node.body.some((part) => named(part) === name));
      const gone = node.body.filter((part) => REPLACED[sign]?.includes(named(part)));
      cuts.push(...gone.map(({ start, end }) => [start, end, ""]));
    }
    if (node.type === "ObjectExpression" && node.properties.some((part) => /^(blockSkip|lheading|_backpedal)$/.test(named(part)))) {
      const gone = node.properties.filter((part) => RULES.includes(named(part)));
      cuts.push(...gone.map(({ value }) => [value.start, value.end, "0"]));
    }
    for (const value of Object.values(node).flat()) if (typeof value?.type === "string") look(value);
  };
  look(parse(code, { ecmaVersion: 2022, sourceType: "module" }));
  if (cuts.length < 30) throw new Error("marked is built in another way than before");
  cuts.sort(([one], [other]) => other - one);
  return cuts.reduce((rest, [start, end, instead]) => rest.slice(0, start) + instead + rest.slice(end), code);
}

export const OPTIONS = {
  absWorkingDir: HERE,
  bundle: true,
  legalComments: "none",
  logLevel: "warning",
  plugins: [sheets, germanWords, markedsParts],
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
  // What esbuild made small is a fiftieth smaller still.
  const { code } = await minify(result.outputFiles[0].text, {
    compress: { passes: 3, ecma: 2020 },
    format: { ascii_only: true, comments: /^!/ },
  });
  await mkdir(dirname(out), { recursive: true });
  await writeFile(out, `${code}\n`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await main(process.argv[2] ?? `${HERE}../static/chat/widget/v1.js`);
}
