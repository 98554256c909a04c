// The words of the screen, in its language, as the server gives them with the field.

const NAMES = [
  "toolbar", "mode", "formatted", "markdown", "keys",
  "heading", "paragraph", "bold", "italic", "code", "code_block", "quote",
  "bullet_list", "ordered_list", "indent", "outdent", "link", "table", "undo", "redo",
  "add_row", "delete_row", "add_column", "delete_column", "delete_table",
  "link_title", "link_text", "link_address", "link_wrong", "link_apply", "link_remove", "cancel",
  "long", "html", "footnotes", "definitions", "irregular_table", "other",
] as const;

export type Words = Readonly<Record<(typeof NAMES)[number], string>>;

export function readWords(json: string): Words {
  return JSON.parse(json) as Words;
}
