// An answer while it is being written: what its end already says, without the signs whose other half has not come.

/** `text` so that rendering it shows nothing that the next words will take back. */
export function settled(text: string): string {
  const fences = text.match(/^```/gm)?.length ?? 0;
  if (fences % 2 === 1) return text.replace(/\n`{1,2}$/, "");
  return closed(withoutTable(withoutTail(text)));
}

function withoutTail(text: string): string {
  return text
    .replace(/\\$/, "")
    .replace(/!?\[(?!\d[\d, ]*\]$)[^\[\]\n]{0,300}\]?$/, "")
    .replace(/!?\[([^\[\]\n]{0,300})\]\([^()\s]{0,2000}$/, "$1")
    .replace(/(^|\n)[ \t]*([-\u2022*+]|\d{1,3}[.)]?|#{1,6}|>|`{1,3}\w*|-{2,}|\*{2,}|={2,})[ \t]*$/, "$1")
    .replace(/[*~]+$/, "");
}

/** A table begins to be one with its second line; a row is shown when it is complete. */
function withoutTable(text: string): string {
  const lines = text.split("\n");
  let first = lines.length;
  while (first > 0 && /^\s*\|/.test(lines[first - 1] ?? "")) first -= 1;
  const ended = lines.at(-1) === "";
  if (ended) {
    first = lines.length - 1;
    while (first > 0 && /^\s*\|/.test(lines[first - 1] ?? "")) first -= 1;
  }
  const complete = lines.length - 1 - first;
  if (first === lines.length || (ended && complete === 0)) return text;
  const kept = complete >= 2 ? lines.slice(0, -1) : lines.slice(0, first);
  return kept.join("\n");
}

/** Closes emphasis and code that are open in the last paragraph or list item. */
function closed(text: string): string {
  const begin = Math.max(text.lastIndexOf("\n\n"), lastItem(text)) + 1;
  const last = text.slice(begin);
  const ticks = (last.match(/`/g) ?? []).length;
  if (ticks % 2 === 1) return last.endsWith("`") ? text.slice(0, -1) : `${text}\``;
  const words = last
    .replace(/`[^`]*`/g, "")
    .replace(/\\[*~]/g, "")
    .replace(/^\s*[*-]\s/gm, "");
  const open = openSigns(words);
  if (open.length === 0) return text;
  // A sign is only closed against a word.
  return text.trimEnd() + open.reverse().join("");
}

/** The signs of emphasis that have begun and not ended, in the order of their beginning. */
function openSigns(words: string): string[] {
  const open: string[] = [];
  for (const { 0: sign, index } of words.matchAll(/\*\*|~~|\*/g)) {
    const touches = (character: string | undefined) => character !== undefined && /\S/.test(character);
    if (open.includes(sign) && touches(words[index - 1])) open.splice(open.lastIndexOf(sign));
    else if (touches(words[index + sign.length])) open.push(sign);
  }
  return open;
}

function lastItem(text: string): number {
  return text.search(/\n\s*(?:[-*\u2022+]|\d{1,3}[.)])\s[^\n]*$/);
}
