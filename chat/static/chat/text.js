// An answer's text as nodes. It is plain text with a little Markdown; whatever else it holds stays text: no markup is
// parsed, no address becomes a link, no image is loaded. Only `[n]` of a known source is made a control.

import { el } from "./dom.js";
import { t } from "./strings.js";

const INLINE =
  /\*\*(.+?)\*\*|`([^`\n]{1,300})`|!?\[([^\[\]\n]{0,300})\]\([^()\s]{0,2000}\)|\[(\d{1,3}(?:,\s?\d{1,3}){0,20})\]/gs;
const ESCAPED = /\\([\\`*_{}[\]()#+\-.!|>~])/g;
const BULLET = /^\s{0,6}[-*•]\s+(.*)$/;
const NUMBERED = /^\s{0,6}(\d{1,3})[.)]\s+(.*)$/;
const HEADING = /^#{1,6}\s+(.*)$/;
const QUOTE = /^>\s?(.*)$/;
const RULE = /^\s{0,3}([-*_])(?:\s*\1){2,}\s*$/;
const TABLE_RULE = /^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/;

/** Splits text into blocks: {kind, lines, from}; a block's lines are joined again in what it shows. */
export function blocks(text) {
  const found = [];
  let open = null;
  let blankBefore = false;
  const lines = text.split("\n");
  for (let index = 0; index < lines.length; index += 1) {
    const line = lines[index].trimEnd();
    if (!line) {
      blankBefore = true;
      continue;
    }
    const block = startOf(line, lines[index + 1] ?? "");
    const isList = open?.kind === "bullets" || open?.kind === "numbers";
    const sameList = isList && block.kind === open.kind;
    const sameTable = open?.kind === "table" && line.includes("|") && !blankBefore;
    const sameText = block.kind === open?.kind && ["text", "quote"].includes(block.kind) && !blankBefore;
    const restOfItem = isList && block.kind === "text" && (!blankBefore || /^\s{2,}/.test(lines[index]));
    if (sameTable) open.lines.push(line);
    else if (sameList || sameText) open.lines.push(...block.lines);
    else if (restOfItem) open.lines[open.lines.length - 1] += `\n${line.trim()}`;
    else if (block.kind !== "rule") found.push((open = block));
    blankBefore = false;
  }
  return found;
}

function startOf(line, next) {
  if (RULE.test(line)) return { kind: "rule", lines: [] };
  const numbered = NUMBERED.exec(line);
  if (numbered) return { kind: "numbers", lines: [numbered[2]], from: Number(numbered[1]) };
  const single = [
    ["bullets", BULLET],
    ["heading", HEADING],
    ["quote", QUOTE],
  ];
  for (const [kind, pattern] of single) {
    const match = pattern.exec(line);
    if (match) return { kind, lines: [match[1]] };
  }
  if (line.includes("|") && next.includes("-") && next.includes("|") && TABLE_RULE.test(next)) {
    return { kind: "table", lines: [line] };
  }
  return { kind: "text", lines: [line.trimStart()] };
}

/** A block as one element. `cite(n)` gives the control for a source, or null where there is none. */
export function blockNode(block, cite) {
  const into = (node, text) => {
    node.append(...inline(text, cite));
    return node;
  };
  switch (block.kind) {
    case "bullets":
      return el("ul", {}, ...block.lines.map((line) => into(el("li"), line)));
    case "numbers":
      return el("ol", { start: block.from }, ...block.lines.map((line) => into(el("li"), line)));
    case "heading":
      return el("p", {}, into(el("strong"), block.lines[0]));
    case "quote":
      return el("blockquote", {}, into(el("p"), block.lines.join("\n")));
    case "table":
      return tableNode(block.lines, into);
    default:
      return into(el("p"), block.lines.join("\n"));
  }
}

function tableNode(lines, into) {
  const cells = (line) => line.trim().replace(/^\||\|$/g, "").split("|").map((cell) => cell.trim());
  const row = (tag, line) => el("tr", {}, ...cells(line).map((cell) => into(el(tag), cell)));
  const [head, , ...body] = lines;
  const table = el(
    "table",
    {},
    el("thead", {}, row("th", head)),
    el("tbody", {}, ...body.map((line) => row("td", line))),
  );
  // Wider than the page: it scrolls by itself, also with the keyboard.
  return el("div", { class: "answer-table", tabindex: "0", role: "region", "aria-label": t("table") }, table);
}

function inline(text, cite) {
  const nodes = [];
  let end = 0;
  for (const match of text.matchAll(INLINE)) {
    const [whole, bold, code, label, numbers] = match;
    const before = text.slice(end, match.index);
    // A number stays on the line of what it belongs to.
    nodes.push(words(numbers === undefined ? before : before.replace(/ +$/, "\u00a0")));
    end = match.index + whole.length;
    if (bold !== undefined) nodes.push(el("strong", {}, ...inline(bold, cite)));
    else if (code !== undefined) nodes.push(el("code", {}, code));
    else if (label !== undefined) nodes.push(...inline(label, cite));
    else nodes.push(...citations(numbers, whole, cite));
  }
  nodes.push(words(text.slice(end)));
  return nodes;
}

function citations(numbers, whole, cite) {
  const controls = numbers.split(",").map((number) => cite(Number(number)));
  return controls.some((control) => control === null) ? [words(whole)] : controls;
}

function words(text) {
  return document.createTextNode(text.replace(ESCAPED, "$1"));
}

/** While an answer is being written: without the signs at its end whose other half has not come yet. */
export function settled(text) {
  const shown = text
    .replace(/\[[\d,\s]*$/, "")
    .replace(/\\$/, "")
    .replace(/(^|\n)\s*([-•]|\d{1,3}[.)]?|#{1,6}|>|\|[^\n]*)\s*$/, "$1")
    .replace(/\*+$/, "");
  const signs = shown.slice(shown.lastIndexOf("\n\n") + 1).match(/\*\*/g) ?? [];
  return signs.length % 2 === 1 ? `${shown}**` : shown;
}

/** The words alone, for reading aloud and for copying. */
export function plain(text, { markers = false } = {}) {
  const stripped = text
    .replace(INLINE, (whole, bold, code, label, numbers) =>
      numbers === undefined ? (bold ?? code ?? label) : markers ? whole : "",
    )
    .replace(ESCAPED, "$1");
  return stripped.replace(/^#{1,6}\s+|^>\s?/gm, "").replace(/[ \t]+([.,;:!?])/g, "$1");
}
