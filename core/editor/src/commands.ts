// What the toolbar's buttons and the keys do.

import { lift, setBlockType, toggleMark, wrapIn } from "prosemirror-commands";
import { redo, redoDepth, undo, undoDepth } from "prosemirror-history";
import type { Attrs, MarkType, NodeType } from "prosemirror-model";
import { liftListItem, sinkListItem, wrapInList } from "prosemirror-schema-list";
import type { Command, EditorState } from "prosemirror-state";
import {
  addColumnAfter,
  addRowAfter,
  deleteColumn,
  deleteRow,
  deleteTable,
} from "prosemirror-tables";
import { schema } from "./schema.ts";
import { hasSeveral, insertTable } from "./tables.ts";

const { nodes, marks } = schema;
type Check = (state: EditorState) => boolean;

/** A command, and how its button looks at a state. */
export interface Action {
  readonly run: Command;
  readonly isOn?: Check;
  readonly isPossible: Check;
}

function hasMark(type: MarkType): Check {
  return ({ doc, selection: { from, $from, to, empty }, storedMarks }) =>
    empty ? !!type.isInSet(storedMarks ?? $from.marks()) : doc.rangeHasMark(from, to, type);
}

function isWithin(...types: NodeType[]): Check {
  return ({ selection: { $from } }) => {
    for (let depth = $from.depth; depth > 0; depth--) if (types.includes($from.node(depth).type)) return true;
    return false;
  };
}

/** Return what turns a kind of block on, and into paragraphs where it is on. */
function toggled(isOn: Check, on: Command, off: Command): Action {
  const run: Command = (state, dispatch, view) => (isOn(state) ? off : on)(state, dispatch, view);
  return { run, isOn, isPossible: (state) => run(state) };
}

function mark(type: MarkType): Action {
  const run = toggleMark(type);
  return { run, isOn: hasMark(type), isPossible: (state) => run(state) };
}

function block(type: NodeType, attrs?: Attrs): Action {
  const isOn: Check = ({ selection: { $from } }) =>
    $from.parent.hasMarkup(type, { ...$from.parent.attrs, ...attrs });
  const { run } = toggled(isOn, setBlockType(type, attrs), setBlockType(nodes.paragraph));
  return { run, isOn, isPossible: (state) => isOn(state) || run(state) };
}

/** A list's kind changes with the other list's button; the same one ends the list. */
function list(type: NodeType): Action {
  const other = type === nodes.bullet_list ? nodes.ordered_list : nodes.bullet_list;
  const isOn: Check = ({ selection: { $from } }) => nearestList($from) === type;
  const change: Command = (state, dispatch) => {
    const { $from } = state.selection;
    if (nearestList($from) !== other) return wrapInList(type)(state, dispatch);
    for (let depth = $from.depth; depth > 0; depth--) {
      if ($from.node(depth).type !== other) continue;
      dispatch?.(state.tr.setNodeMarkup($from.before(depth), type, { tight: $from.node(depth).attrs.tight }));
      return true;
    }
    return false;
  };
  return toggled(isOn, change, liftListItem(nodes.list_item));
}

function nearestList($from: EditorState["selection"]["$from"]): NodeType | null {
  for (let depth = $from.depth; depth > 0; depth--) {
    const { type } = $from.node(depth);
    if (type === nodes.bullet_list || type === nodes.ordered_list) return type;
  }
  return null;
}

function plain(run: Command, isPossible: Check = (state) => run(state)): Action {
  return { run, isPossible };
}

export const ACTIONS = {
  heading_1: block(nodes.heading, { level: 1 }),
  heading_2: block(nodes.heading, { level: 2 }),
  heading_3: block(nodes.heading, { level: 3 }),
  heading_4: block(nodes.heading, { level: 4 }),
  paragraph: block(nodes.paragraph),
  bold: mark(marks.strong),
  italic: mark(marks.em),
  code: mark(marks.code),
  bullet_list: list(nodes.bullet_list),
  ordered_list: list(nodes.ordered_list),
  indent: plain(sinkListItem(nodes.list_item)),
  outdent: plain(liftListItem(nodes.list_item)),
  quote: toggled(isWithin(nodes.blockquote), wrapIn(nodes.blockquote), lift),
  code_block: block(nodes.code_block),
  table: plain(insertTable),
  undo: plain(undo, (state) => undoDepth(state) > 0),
  redo: plain(redo, (state) => redoDepth(state) > 0),
  add_row: plain(addRowAfter),
  delete_row: plain(deleteRow, hasSeveral("rows")),
  add_column: plain(addColumnAfter),
  delete_column: plain(deleteColumn, hasSeveral("columns")),
  delete_table: plain(deleteTable),
} satisfies Record<string, Action>;

export type ActionName = keyof typeof ACTIONS;
