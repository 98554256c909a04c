// Tables of one row of headings and rows of cells, which is all that Markdown has.

import type { Node } from "prosemirror-model";
import { type Command, Plugin, TextSelection } from "prosemirror-state";
import { TableMap, findTable, isInTable, nextCell, selectionCell } from "prosemirror-tables";
import { schema } from "./schema.ts";

const { table, table_row, table_header, table_cell } = schema.nodes;

/** Insert a table of two columns and three rows, and go to its first cell. */
export const insertTable: Command = (state, dispatch) => {
  if (isInTable(state)) return false;
  const row = (cell: typeof table_cell) => table_row.create(null, [cell.create(), cell.create()]);
  const made = table.create(null, [row(table_header), row(table_cell), row(table_cell)]);
  const { $from } = state.selection;
  const depth = $from.sharedDepth($from.pos);
  if (!depth || !$from.node(-1).type.contentMatch.matchType(table)) return false;
  if (dispatch) {
    const isEmpty = $from.parent.isTextblock && !$from.parent.content.size;
    const at = isEmpty ? $from.before() : $from.after();
    const tr = state.tr.replaceWith(at, isEmpty ? $from.after() : at, made);
    if (at + made.nodeSize === tr.doc.content.size) tr.insert(at + made.nodeSize, schema.nodes.paragraph.create());
    dispatch(tr.setSelection(TextSelection.near(tr.doc.resolve(at + 3))).scrollIntoView());
  }
  return true;
};

/** Go to the cell above or below; beyond the last one out of the table, to a new paragraph if nothing is there. */
export function moveRow(direction: 1 | -1): Command {
  return (state, dispatch, view) => {
    const { selection } = state;
    if (!isInTable(state) || !selection.empty) return false;
    if (view && !view.endOfTextblock(direction > 0 ? "down" : "up")) return false;
    const next = nextCell(selectionCell(state), "vert", direction);
    const tr = state.tr;
    if (next) {
      dispatch?.(tr.setSelection(TextSelection.create(tr.doc, next.pos + 1)).scrollIntoView());
      return true;
    }
    const found = findTable(selection.$head);
    if (!found) return false;
    const at = direction > 0 ? found.pos + found.node.nodeSize : found.pos;
    const $at = state.doc.resolve(at);
    if (direction > 0 ? $at.nodeAfter : $at.nodeBefore) return false;
    tr.insert(at, schema.nodes.paragraph.create());
    dispatch?.(tr.setSelection(TextSelection.create(tr.doc, at + 1)).scrollIntoView());
    return true;
  };
}

/** Return whether a row or column can go without the table. */
export function hasSeveral(kind: "rows" | "columns"): Command {
  return (state) => {
    const found = isInTable(state) && findTable(state.selection.$head);
    if (!found) return false;
    const map = TableMap.get(found.node);
    return (kind === "rows" ? map.height : map.width) > 1;
  };
}

/** Keep the first row the headings, and each column aligned in one way. */
export const regularTables = new Plugin({
  appendTransaction(transactions, _before, state) {
    if (!transactions.some((each) => each.docChanged)) return null;
    const tr = state.tr;
    state.doc.descendants((node, at) => {
      if (node.type === table) regularise(node, at + 1);
      return !node.isTextblock;
    });
    return tr.docChanged ? tr : null;

    function regularise(node: Node, begin: number) {
      node.forEach((row, rowAt, index) =>
        row.forEach((cell, cellAt, column) => {
          const type = index ? table_cell : table_header;
          const align = node.firstChild?.maybeChild(column)?.attrs.align ?? "";
          if (cell.type !== type || cell.attrs.align !== align)
            tr.setNodeMarkup(begin + rowAt + 1 + cellAt, type, { ...cell.attrs, align });
        }),
      );
    }
  },
});
