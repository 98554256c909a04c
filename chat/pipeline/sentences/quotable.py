"""Splits a passage into what can be quoted alone: sentences, list items and table rows; pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from core.terms import topic_words
from knowledge.chunking.leads import LONGEST_LEAD
from knowledge.chunking.plain_text import escape_marks, make_plain
from knowledge.chunking.sentences import sentence_spans

#: The most characters of a quote that is put together.
LONGEST = 600
LIST_MARK = re.compile(r"^(?:[-*+•]|\d{1,3}[.)])\s+")
TABLE_RULE = re.compile(r"^\|?[\s:|-]+\|?$")
ENDED = re.compile(r"[.!?…][\"”“»)]*$")
#: Sentences that say nothing without the one before; "Sie" is mostly who is spoken to, "es" mostly nothing.
POINTS_BACK = re.compile(
    r"(?:This|These|Those|They|It|He|She|Its|Their|Er|Ihm|Dies|Diese[mnrs]?|Deren|Dessen|Dafür|Damit|Dazu|Dabei|Davon)\b"
    r"(?! (?:page|site|university|semester|term|year|Seite|Universität|Semester|Jahr)\b)"
)
REFERS = re.compile(r"^(?:See|Siehe|More|Mehr|This page in|Diese Seite auf)\b")
LINKED = re.compile(r"!?\[([^\]]*)\](?:\([^)]*\)|\[\d{1,4}\])")
#: The number of a form's row: “11 Credits: …”.
COUNTED = re.compile(r"\d{1,2}(?=\s)")
BREAK = re.compile(r"\n\s*\n")
CELL_END = re.compile(r"(?<!\\)\|")


@dataclass(frozen=True, slots=True)
class Quotable:
    """`text` is what is compared with a question, `shown` what a student reads, with what it goes on from; both are
    empty where nothing is said. `row` is a table row as the page writes it. Of a sentence with its list, `lead` and
    `items` are the parts, each item with its mark in Markdown."""

    text: str
    shown: str
    row: str = ""
    lead: str = ""
    items: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Unit:
    """A sentence, list item or table row as it reads; `follows` the one before without an empty line between."""

    text: str
    is_item: bool
    row: str
    follows: bool
    is_numbered: bool = False


def quotable(passage: str) -> list[Quotable]:
    """Cut a passage into quotes, in order.

    A sentence that leads to a list takes its items along. An item that goes on from such a sentence, and a sentence
    that points back, are shown behind what they need.
    """
    units = _units(passage)
    found = []
    lead = before = None
    for place, unit in enumerate(units):
        items = () if unit.is_item or unit.row else _items(unit.text, units[place + 1 :])
        if not items and unit.text.endswith(":") and not unit.is_item and _leads_on(unit, units[place + 1 :]):
            found.append(Quotable("", ""))
        elif items:
            found.append(_with_items(unit.text, items, units[place + 1 :]))
        else:
            needed = _needed(unit, before=before, lead=lead)
            shown = f"{needed} {unit.text.rstrip(',;')}" if needed else unit.text
            found.append(Quotable(unit.text, shown, unit.row))
        before = unit
        lead = lead if unit.is_item else unit
    return found


def readable(unit: str, rows: Sequence[str]) -> str:
    """Write a sentence, list item or table row as a quote; a row, one of `rows`, names the column of each cell."""
    unit = LIST_MARK.sub("", unit.strip())
    if not unit.startswith("|") or unit not in rows:
        return make_plain(unit)
    if TABLE_RULE.match(unit) or (unit == rows[0] and len(rows) > 1 and TABLE_RULE.match(rows[1])):
        return ""
    named = zip(read_cells(rows[0]), read_cells(unit), strict=False)
    return "; ".join(f"{name}: {cell}" if name else cell for name, cell in named if cell)


def table_rows(passage: str) -> list[str]:
    return [line.strip() for line in passage.splitlines() if line.strip().startswith("|")]


def table_around(passage: str, row: str) -> list[str]:
    """Return the lines of the table that a row stands in: its header, the rule under it and its rows."""
    lines = [line.strip() for line in passage.splitlines()]
    place = lines.index(row)
    first = last = place
    while first > 0 and lines[first - 1].startswith("|"):
        first -= 1
    while last + 1 < len(lines) and lines[last + 1].startswith("|"):
        last += 1
    return lines[first : last + 1]


def plain_row(row: str) -> str:
    """Return a table row in Markdown whose cells have no links and marks: nothing of a page's markup is shown."""
    if TABLE_RULE.match(row):
        return row
    cells = (CELL_END.sub(r"\|", escape_marks(cell)) for cell in read_cells(row))
    return "| " + " | ".join(cells) + " |"


def only_refers(sentence: str) -> bool:
    """Return whether it says no more than where else to read: "See [the deadlines](…) (in German)."."""
    said, begins = REFERS.subn("", LINKED.sub(" ", sentence.strip()))
    return bool(begins and LINKED.search(sentence)) and len(topic_words(said)) <= 1


def _units(passage: str) -> list[_Unit]:
    rows = table_rows(passage)
    units = []
    ended = 0
    for start, end in sentence_spans(passage):
        raw, gap = passage[start:end].strip(), passage[ended:start]
        ended = end
        is_item, row = bool(LIST_MARK.match(raw)), raw if raw.startswith("|") else ""
        is_empty = not is_item and not row and only_refers(raw)
        text = "" if is_empty else readable(raw, rows)
        units.append(_Unit(text, is_item, row, follows=not BREAK.search(gap), is_numbered=raw[:1].isdigit()))
    return units


def _items(text: str, following: Sequence[_Unit]) -> tuple[_Unit, ...]:
    """Return the list items that a sentence leads to, as many as a quote can hold."""
    if not text or ENDED.search(text):
        return ()
    length, items = len(text), []
    for item in _list(text, following):
        length += len(item.text) + 2
        if length > LONGEST:
            break
        items.append(item)
    return tuple(items)


def _list(lead: str, following: Sequence[_Unit]) -> list[_Unit]:
    """Return the items of the list that follows a line.

    Where none of them stands apart, one that does begins another list; so does one with the number after the line's.
    """
    items = list(takewhile(lambda unit: unit.is_item, following))
    if counted := COUNTED.match(lead):
        after = f"{int(counted[0]) + 1} "
        items = list(takewhile(lambda item: not item.text.startswith(after), items))
    if any(item.follows for item in items[1:]):
        items = [*items[:1], *takewhile(lambda item: item.follows, items[1:])]
    return items


def _leads_on(lead: _Unit, following: Sequence[_Unit]) -> bool:
    """Return whether a line with a colon at its end says nothing alone: what it leads to brings it, or is not there."""
    return not following or _is_led(following[0], lead)


def _is_led(unit: _Unit, before: _Unit) -> bool:
    """Return whether a sentence is what the short line before it leads to."""
    is_lead = before.text.endswith(":") and len(before.text) <= LONGEST_LEAD and not (before.is_item or before.row)
    return is_lead and bool(unit.text) and not (unit.is_item or unit.row)


def _with_items(lead: str, items: Sequence[_Unit], following: Sequence[_Unit]) -> Quotable:
    """Put a sentence and its list together; "…" stands for items that do not fit."""
    said = [item.text.rstrip(".,;") for item in items]
    text = f"{lead} {'; '.join(said)}"
    marks = [f"{place}." if items[0].is_numbered else "-" for place in range(1, len(said) + 1)]
    listed = [f"{mark} {escape_marks(each)}" for mark, each in zip(marks, said, strict=True)]
    if len(_list(lead, following)) > len(items):
        listed.append(f"{len(said) + 1}. …" if items[0].is_numbered else "- …")
    return Quotable(text, text, lead=lead, items=tuple(listed))


def _needed(unit: _Unit, *, before: _Unit | None, lead: _Unit | None) -> str:
    """Return what the unit goes on from, empty if it stands alone; `lead` is the last unit that is no list item."""
    goes_on_from = lead if unit.is_item else before
    if goes_on_from is None or goes_on_from.row or len(goes_on_from.text) + len(unit.text) >= LONGEST:
        return ""
    if unit.is_item:
        goes_on = unit.text[:1].islower() and not ENDED.search(goes_on_from.text)
    else:
        goes_on = _is_led(unit, before or unit) or (unit.follows and bool(POINTS_BACK.match(unit.text)))
    return goes_on_from.text if goes_on else ""


def read_cells(row: str) -> list[str]:
    """Return the cells of a row as they read, without links and marks."""
    return [make_plain(cell) for cell in CELL_END.split(row.strip().strip("|"))]
