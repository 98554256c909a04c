"""An answer put together of the pages' own words: the sentences that answer best, or a whole table; pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from chat.pipeline.retrieval.candidates import Candidate
from chat.pipeline.sentences.comparatives import asks_to_compare
from chat.pipeline.sentences.quotable import TABLE_RULE, plain_row, table_around
from chat.pipeline.sentences.ranking import RankedSentence
from chat.pipeline.tuning import (
    MOST_FURTHER_WORDS,
    MOST_PROSE_WORDS,
    MOST_TABLE_ROWS,
    QUOTE_MARGIN,
    QUOTED_SENTENCES,
)
from core.language import detect_language
from core.terms import content_words

#: How far down a ranking a comparison looks for a table.
LOOKED_AT = 12


@dataclass(frozen=True, slots=True)
class Piece:
    """Words of one passage shown together: a quote (`text`), or the lines of a `table` as the page has them.

    A quote that is a sentence with its list has the `lead` and the `items`, each with its mark in Markdown.
    """

    candidate: Candidate
    text: str
    table: tuple[str, ...] = ()
    lead: str = ""
    items: tuple[str, ...] = ()

    @property
    def shown_table(self) -> str:
        """The table in Markdown, of which no cell has markup of its own; empty if it is a sentence."""
        return "\n".join(map(plain_row, self.table))


def compose(question: str, rankings: Sequence[Sequence[RankedSentence]]) -> list[Piece]:
    """Put an answer together of ranked sentences, one ranking for each part of the question.

    It has at most MOST_PROSE_WORDS of prose and one table, of which a chosen sentence is a row. What stands on one page
    is kept together in the page's order; the page with the best sentence comes first.
    """
    rankings = [ranked for ranked in rankings if ranked]
    if not rankings:
        return []
    table = next(filter(None, (_table(question, ranked) for ranked in rankings)), None)
    chosen = _choose(rankings, table, detect_language(question))
    if table is None and (row := next((each for each in chosen if each.quote.row), None)):
        table = _as_table(row, [each for ranked in rankings for each in ranked])
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
            pieces.append(Piece(each.candidate, each.quote.shown, lead=each.quote.lead, items=each.quote.items))
        before = None if is_table else each
    return pieces


def _choose(
    rankings: Sequence[Sequence[RankedSentence]], table: Piece | None, language: str | None
) -> list[RankedSentence]:
    """Return the best sentences of each ranking that are close to its first one and add to the others, best first.

    Only the best one may have more than MOST_FURTHER_WORDS. Of the rows of `table` only the first one is among them.
    `language` is the question's, if it can be told.
    """
    chosen: list[RankedSentence] = []
    told = content_words(" ".join(table.table)) if table else frozenset()
    words = 0
    most = max(1, QUOTED_SENTENCES // len(rankings))
    for ranked in rankings:
        taken = 0
        for each in ranked:
            if taken == most or each.score < ranked[0].score - QUOTE_MARGIN:
                break
            text = each.quote.shown
            # A page in the question's language answers already: the other language would only repeat it.
            is_foreign = each.candidate.language != ranked[0].candidate.language == language
            if table is not None and _is_of(each, table):
                has_row = any(_is_of(other, table) for other in chosen)
                chosen += [] if has_row else [each]
                continue
            # Beside a table, a row of another one on its page is mostly beside the point: two of 14 answers needed it.
            if is_foreign or (each.quote.row and _is_on_page_of(each, table)):
                continue
            length = len(text.split())
            is_too_long = length > MOST_FURTHER_WORDS or words + length > MOST_PROSE_WORDS
            if content_words(each.quote.text) <= told or (taken and is_too_long):
                continue
            told |= content_words(text)
            # A sentence that another one brings along is in its place, so that nothing is read twice.
            place = next((place for place, other in enumerate(chosen) if other.quote.shown in text), None)
            if place is None:
                chosen.append(each)
                taken += 1
                words += length
            else:
                words += length - len(chosen[place].quote.shown.split())
                chosen[place] = each
    if table is not None and not any(_is_of(each, table) for each in chosen):
        chosen[:0] = [each for ranked in rankings for each in ranked if _is_of(each, table)][:1]
    return _with_first_page(chosen, rankings[0], table)


def _with_first_page(
    chosen: list[RankedSentence], ranked: Sequence[RankedSentence], table: Piece | None
) -> list[RankedSentence]:
    """Add the best sentence of the passage that was found first, if it is close to the best one and its page is not
    quoted yet. Where it finds no room the last sentences make way."""
    close = [each for each in ranked if each.score >= ranked[0].score - QUOTE_MARGIN]
    first = next((each for each in close if each.candidate.rank == 1), None)
    if first is None or any(each.candidate.document_id == first.candidate.document_id for each in chosen):
        return chosen

    def length(each: RankedSentence) -> int:
        return 0 if table is not None and _is_of(each, table) else len(each.quote.shown.split())

    kept = list(chosen)
    while len(kept) > 1 and sum(map(length, [*kept, first])) > MOST_PROSE_WORDS:
        kept.pop()
    return [*kept, first]


def _is_of(each: RankedSentence, table: Piece) -> bool:
    return each.quote.row in table.table and _is_on_page_of(each, table)


def _is_on_page_of(each: RankedSentence, table: Piece | None) -> bool:
    return table is not None and each.candidate.document_id == table.candidate.document_id


def _goes_on(before: RankedSentence, each: RankedSentence) -> bool:
    """Return whether a sentence follows another one on its page and can be read on from it."""
    is_next = before.passage == each.passage and each.place == before.place + 1
    is_prose = not (before.quote.row or before.quote.items or each.quote.row or each.quote.items)
    return is_next and is_prose and each.quote.shown == each.quote.text


def _table(question: str, ranked: Sequence[RankedSentence]) -> Piece | None:
    """Return the table that the best sentence is a row of, or for a comparison the first table of the ranking."""
    row = next((each for each in ranked[: LOOKED_AT if asks_to_compare(question) else 1] if each.quote.row), None)
    return _as_table(row, ranked) if row else None


def _as_table(row: RankedSentence, ranked: Sequence[RankedSentence]) -> Piece | None:
    """Return the row's table, unless it is too long or has no header."""
    lines = _whole_table(row, ranked)
    rows = [line for line in lines[2:] if not TABLE_RULE.match(line)]
    is_whole = len(lines) > 2 and TABLE_RULE.match(lines[1])
    return Piece(row.candidate, "", tuple(lines)) if is_whole and len(rows) <= MOST_TABLE_ROWS else None


def _whole_table(row: RankedSentence, ranked: Sequence[RankedSentence]) -> list[str]:
    """Return the lines of the row's table, of all passages that the page's text was cut into.

    Each of these passages begins the table with the same header.
    """
    parts = {row.candidate.passage_id: table_around(row.candidate.text, row.quote.row)}
    header = parts[row.candidate.passage_id][:2]
    for each in ranked:
        passage = each.candidate
        if each.quote.row and passage.document_id == row.candidate.document_id and passage.passage_id not in parts:
            lines = table_around(passage.text, each.quote.row)
            if lines[:2] == header and passage.label == row.candidate.label:
                parts[passage.passage_id] = lines
    rows = [line for passage_id in sorted(parts) for line in parts[passage_id][2:]]
    return [*header, *dict.fromkeys(rows)]
