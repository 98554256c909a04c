// The words of an answer alone, for reading aloud and for copying.

const INLINE =
  /\*\*(.+?)\*\*|`([^`\n]{1,300})`|!?\[([^\[\]\n]{0,300})\]\([^()\s]{0,2000}\)|\[(\d{1,3}(?:,\s?\d{1,3}){0,20})\]/gs;
const ESCAPED = /\\([\\`*_{}[\]()#+\-.!|>~])/g;

/** `markers` keeps the numbers of the sources. */
export function plain(text: string, { markers = false } = {}): string {
  const stripped = text
    .replace(INLINE, (whole: string, bold?: string, code?: string, label?: string, numbers?: string) =>
      numbers === undefined ? (bold ?? code ?? label ?? "") : markers ? whole : "",
    )
    .replace(ESCAPED, "$1");
  return stripped.replace(/^#{1,6}\s+|^>\s?|^```\w*$/gm, "").replace(/[ \t]+([.,;:!?])/g, "$1");
}
