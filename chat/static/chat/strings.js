// The page's words in the visitor's language; they come with the page (chat/page_strings.py).

let strings = {};

export function useStrings(table) {
  strings = table;
}

/** The string `key` with its {placeholders} filled. */
export function t(key, values = {}) {
  const text = strings[key] ?? key;
  return text.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
}
