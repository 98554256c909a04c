// Keys and what is typed at the beginning of a line. The tab key is left to the page, so that nobody is caught.

import { baseKeymap, chainCommands, exitCode } from "prosemirror-commands";
import { inputRules, textblockTypeInputRule, wrappingInputRule } from "prosemirror-inputrules";
import { keymap } from "prosemirror-keymap";
import { splitListItem } from "prosemirror-schema-list";
import type { Command, Plugin } from "prosemirror-state";
import { isInTable } from "prosemirror-tables";
import { ACTIONS } from "./commands.ts";
import { schema } from "./schema.ts";
import { moveRow } from "./tables.ts";

const { nodes } = schema;

/** Begin a line within the paragraph; where single lines stay lines, a plain one. */
function breakLine(breaks: boolean): Command {
  const type = breaks ? nodes.soft_break : nodes.hard_break;
  return (state, dispatch) => {
    if (isInTable(state)) return true;
    if (state.selection.$from.parent.type !== nodes.paragraph) return false;
    dispatch?.(state.tr.replaceSelectionWith(type.create()).scrollIntoView());
    return true;
  };
}

/** Enter ends no cell: Markdown's cells are of one line. */
const stayInCell: Command = (state) => isInTable(state);

export function keys(breaks: boolean, showLink: Command, goToToolbar: Command): Plugin[] {
  return [
    inputRules({
      rules: [
        textblockTypeInputRule(/^(#{1,6})\s$/, nodes.heading, (match) => ({ level: match[1]?.length })),
        textblockTypeInputRule(/^```$/, nodes.code_block),
        wrappingInputRule(/^\s*([-+*])\s$/, nodes.bullet_list),
        wrappingInputRule(/^(\d{1,4})\.\s$/, nodes.ordered_list, (match) => ({ order: Number(match[1]) })),
        wrappingInputRule(/^\s*>\s$/, nodes.blockquote),
      ],
    }),
    keymap({
      "Mod-z": ACTIONS.undo.run,
      "Shift-Mod-z": ACTIONS.redo.run,
      "Mod-y": ACTIONS.redo.run,
      "Mod-b": ACTIONS.bold.run,
      "Mod-i": ACTIONS.italic.run,
      "Mod-e": ACTIONS.code.run,
      "Mod-k": showLink,
      "Shift-Mod-0": ACTIONS.paragraph.run,
      "Shift-Mod-1": ACTIONS.heading_1.run,
      "Shift-Mod-2": ACTIONS.heading_2.run,
      "Shift-Mod-3": ACTIONS.heading_3.run,
      "Shift-Mod-4": ACTIONS.heading_4.run,
      "Shift-Mod-7": ACTIONS.ordered_list.run,
      "Shift-Mod-8": ACTIONS.bullet_list.run,
      "Shift-Mod-9": ACTIONS.quote.run,
      "Alt-Shift-ArrowRight": ACTIONS.indent.run,
      "Alt-Shift-ArrowLeft": ACTIONS.outdent.run,
      "Alt-F10": goToToolbar,
      ArrowDown: moveRow(1),
      ArrowUp: moveRow(-1),
      "Shift-Enter": chainCommands(exitCode, breakLine(breaks)),
      "Mod-Enter": exitCode,
      Enter: chainCommands(stayInCell, splitListItem(nodes.list_item)),
    }),
    keymap(baseKeymap),
  ];
}
