"""Agreement of a passage's sentences with the years and terms that a question names; pure.

What a sentence names itself counts first. Then come the table or the line that it stands under, the passage's headings
and title, what its paragraph named before, and its dates.
"""

import re
from collections.abc import Sequence

from knowledge.chunking.periods import Grade, Period, dated, grade, grade_dates, named
from knowledge.chunking.sentences import sentence_spans

BREAK = re.compile(r"\n\s*\n")
ITEM = re.compile(r"(?:[-*+•]|\d{1,3}[.)])\s")
MARKED_HEADING = re.compile(r"#{1,6}\s|\*\*|__")
ENDED = re.compile(r"[.!?…][\"”“»)*_]*$")
#: The longest line that is a heading to what follows it.
LONGEST_HEADING = 100


def grade_passage(wanted: Sequence[Period], labels: Sequence[str], text: str) -> tuple[Grade, Grade]:
    """Return the grades of the passage's best sentence and of its labels alone; as `grade_sentences`."""
    label = _grade_labels(wanted, labels)
    if label == Grade.FITS or not (named(text) or dated(text)):
        return label, label
    return max(grade_sentences(wanted, labels, text), default=label), label


def grade_sentences(wanted: Sequence[Period], labels: Sequence[str], text: str) -> list[Grade]:
    """Return the grade of each of the text's `sentence_spans`, MAY where nothing tells.

    `labels` are the title and the headings, the innermost last.
    """
    label = _grade_labels(wanted, labels)
    table = heading = paragraph = Grade.MAY
    grades: list[Grade] = []
    before, was_row = 0, False
    for start, end in sentence_spans(text):
        unit = text[start:end].strip()
        said = named(unit)
        own = grade(wanted, said) if said else Grade.MAY
        is_row, is_item = unit.startswith("|"), bool(ITEM.match(unit))
        if not (is_row and was_row):
            table = own if is_row else Grade.MAY
        if not (is_row or is_item):
            if BREAK.search(text, before, start):
                paragraph = Grade.MAY
            is_short = len(unit) <= LONGEST_HEADING and not ENDED.search(unit)
            if is_short and (said or MARKED_HEADING.match(unit)):
                heading = own
            elif said:
                paragraph = own
        dates = () if said else dated(unit)
        by_date = grade_dates(wanted, dates) if dates else Grade.MAY
        told = (own, table, heading, label, paragraph, by_date)
        grades.append(next((each for each in told if each != Grade.MAY), Grade.MAY))
        before, was_row = end, is_row
    return grades


def _grade_labels(wanted: Sequence[Period], labels: Sequence[str]) -> Grade:
    for label in reversed(labels):
        if (said := named(label)) and (found := grade(wanted, said)) != Grade.MAY:
            return found
    return Grade.MAY
