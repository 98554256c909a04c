import assert from "node:assert/strict";
import test from "node:test";
import { history } from "prosemirror-history";
import { type Command, EditorState, TextSelection } from "prosemirror-state";
import { tableEditing } from "prosemirror-tables";
import { ACTIONS, type ActionName } from "../src/commands.ts";
import { Source } from "../src/markdown/source.ts";
import { moveRow, regularTables } from "../src/tables.ts";
import { findLink } from "../src/view/link_dialog.ts";

const TABLE = "| a | b |\n| --- | --: |\n| c | d |";

/** A text with the cursor behind these words. */
class Desk {
  state: EditorState;
  readonly source: Source;

  constructor(text: string, words: string) {
    this.source = new Source(text);
    let at = 0;
    this.source.doc.descendants((node, pos) => {
      const begin = node.isText ? (node.text ?? "").indexOf(words) : -1;
      if (begin >= 0) at = pos + begin + words.length;
    });
    const { doc } = this.source;
    const selection = words ? TextSelection.create(doc, at) : TextSelection.atStart(doc);
    this.state = EditorState.create({ doc, selection, plugins: [history(), tableEditing(), regularTables] });
  }

  run(command: Command): boolean {
    return command(this.state, (transaction) => (this.state = this.state.apply(transaction)));
  }

  do(...names: ActionName[]): string {
    for (const name of names) assert(this.run(ACTIONS[name].run), name);
    return this.source.write(this.state.doc);
  }
}

test("blocks change their kind and back", () => {
  assert.equal(new Desk("a\n\nb", "a").do("heading_2"), "## a\n\nb");
  assert.equal(new Desk("## a", "a").do("heading_2"), "a");
  assert.equal(new Desk("a", "a").do("bullet_list"), "- a");
  assert.equal(new Desk("* a\n* b", "b").do("ordered_list"), "1. a\n2. b");
  assert.equal(new Desk("- a\n- b", "b").do("indent"), "- a\n  - b");
  assert.equal(new Desk("- a", "a").do("bullet_list"), "a");
  assert.equal(new Desk("> a", "a").do("quote"), "a");
  assert.equal(new Desk("a", "a").do("code_block"), "```\na\n```");
});

test("what is undone is as it was, byte for byte", () => {
  assert.equal(new Desk("* a\n\n\nb", "a").do("ordered_list", "undo"), "* a\n\n\nb");
});

test("tables get and lose rows and columns, and keep their headings and alignments", () => {
  assert.equal(new Desk("", "").do("table"), "|  |  |\n| --- | --- |\n|  |  |\n|  |  |");
  assert.equal(new Desk(TABLE, "c").do("add_row"), `${TABLE}\n|  |  |`);
  assert.equal(new Desk(TABLE, "b").do("add_column"), "| a | b |  |\n| --- | --: | --- |\n| c | d |  |");
  assert.equal(new Desk(TABLE, "c").do("delete_column"), "| b |\n| --: |\n| d |");
  assert.equal(new Desk(TABLE, "a").do("delete_row"), "| c | d |\n| --- | --: |");
  assert.equal(new Desk(`x\n\n${TABLE}`, "a").do("delete_table"), "x");
  assert(!ACTIONS.table.isPossible(new Desk(TABLE, "a").state));
});

test("a link is found from end to end", () => {
  const { state } = new Desk("a [b **c** d](https://e.example) f [g](https://e.example)", "c");
  const { from, to } = findLink(state);
  assert.equal(state.doc.textBetween(from, to), "b c d");
});

test("the arrows lead along a column and out of a table, which stays as it is", () => {
  const desk = new Desk(TABLE.replace("---", "-"), "b");
  assert(desk.run(moveRow(1)));
  assert.equal(desk.state.selection.$from.parent.textContent, "d");
  assert(desk.run(moveRow(1)));
  assert.equal(desk.state.selection.$from.parent.type.name, "paragraph");
  assert.equal(desk.do(), TABLE.replace("---", "-"));
  assert(!desk.run(moveRow(-1)));
});
