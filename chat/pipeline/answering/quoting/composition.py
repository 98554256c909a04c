"""An answer put together of the pages' own words: the sentences that answer best, or a whole table; pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from chat.pipeline.answering.quoting.quotable import TABLE_RULE, plain_row, table_around
from chat.pipeline.answering.quoting.ranking import RankedSentence
from chat.pipeline.retrieval.candidates import Candidate
from chat.pipeline.tuning import MOST_PROSE_WORDS, MOST_TABLE_ROWS, QUOTE_MARGIN, QUOTED_SENTENCES
from core.language import detect_language

#: Questions that only all rows together answer.
COMPARES = re.compile(
    r"\b(?:\w{2,}est|most|least|compar\w+|differen\w+|versus|vs|overview|höchste\w*|niedrigste\w*|teuerste\w*|billigste\w*"
    r"|am (?:\w+sten)|günstigste\w*|größte\w*|kleinste\w*|längste\w*|kürzeste\w*|früheste\w*|späteste\w*|vergleich\w*"
    r"|unterschied\w*|überblick)\b",
    re.IGNORECASE,
)
#: How far down a ranking a comparison looks for a table.
LOOKED_AT = 12


@dataclass(frozen=True, slots=True)
class Piece:
    """What is quoted of one passage in one go: `text` as a quote, or the lines of a `table` as the page writes them."""

    candidate: Candidate
    text: str
    table: tuple[str, ...] = ()

    @property
    def shown_table(self) -> str:
        """The table in Markdown, of which no cell has markup of its own; empty if it is a sentence."""
        return "\n".join(map(plain_row, self.table))


def compose(question: str, rankings: Sequence[Sequence[RankedSentence]]) -> list[Piece]:
    """Put an answer together of ranked sentences, one ranking for each part of the question.

    It has at most MOST_PROSE_WORDS of prose and one table. What stands on one page is kept together in the page's
    order; the page with the best sentence comes first.
    """
    rankings = [ranked for ranked in rankings if ranked]
    if not rankings:
        return []
    table = next(filter(None, (_table(question, ranked) for ranked in rankings)), None)
    chosen = _choose(rankings, table, detect_language(question))
    first_of: dict[int, int] = {}
    for place, each in enumerate(chosen):
        first_of.setdefault(each.candidate.document_id, place)
    chosen.sort(key=lambda each: (first_of[each.candidate.document_id], each.passage, each.place))
    pieces: list[Piece] = []
    before: RankedSentence | None = None
    for each in chosen:
        is_table = table is not None and _is_of(each, table)
        if table is not None and is_table:
            pieces.append(table)
        elif before and _goes_on(before, each):
            pieces[-1] = Piece(each.candidate, f"{pieces[-1].text} {each.quote.text}")
        else:
            pieces.append(Piece(each.candidate, each.quote.shown))
        before = None if is_table else each
    return pieces


def _choose(
    rankings: Sequence[Sequence[RankedSentence]], table: Piece | None, language: str | None
) -> list[RankedSentence]:
    """Return the best sentences of each ranking that are close to its first one and add to the others, best first.

    Of the rows of `table` only the first one is among them. `language` is the question's, if it can be told.
    """
    chosen: list[RankedSentence] = []
    words = 0
    most = max(1, QUOTED_SENTENCES // len(rankings))
    for ranked in rankings:
        taken = 0
        if table is not None and not any(_is_of(other, table) for other in chosen):
            chosen += [each for each in ranked if _is_of(each, table)][:1]
        for each in ranked:
            if taken == most or each.score < ranked[0].score - QUOTE_MARGIN:
                break
            text = each.quote.shown
            # What is said in the question's language is not said again in another one.
            is_foreign = each.candidate.language != ranked[0].candidate.language == language
            if is_foreign or (table is not None and _is_of(each, table)):
                continue
            length = len(text.split())
            if any(text in other.quote.shown for other in chosen) or (taken and words + length > MOST_PROSE_WORDS):
                continue
            # A sentence that another one brings along is in its place, so that nothing is read twice.
            place = next((place for place, other in enumerate(chosen) if other.quote.shown in text), None)
            if place is None:
                chosen.append(each)
                taken += 1
                words += length
            else:
                words += length - len(chosen[place].quote.shown.split())
                chosen[place] = each
    return chosen


def _is_of(each: RankedSentence, table: Piece) -> bool:
    return each.quote.row in table.table and each.candidate == table.candidate


def _goes_on(before: RankedSentence, each: RankedSentence) -> bool:
    """Return whether a sentence follows another one on its page and can be read on from it."""
    is_next = before.passage == each.passage and each.place == before.place + 1
    return is_next and not (before.quote.row or each.quote.row) and each.quote.shown == each.quote.text


def _table(question: str, ranked: Sequence[RankedSentence]) -> Piece | None:
    """Return the table that the best sentence is a row of, or for a comparison the first table of the ranking."""
    row = next((each for each in ranked[: LOOKED_AT if COMPARES.search(question) else 1] if each.quote.row), None)
    if row is None:
        return None
    lines = table_around(row.candidate.text, row.quote.row)
    rows = [line for line in lines[2:] if not TABLE_RULE.match(line)]
    is_whole = len(lines) > 2 and TABLE_RULE.match(lines[1])
    return Piece(row.candidate, "", tuple(lines)) if is_whole and len(rows) <= MOST_TABLE_ROWS else None
