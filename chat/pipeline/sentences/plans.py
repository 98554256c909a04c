"""Rows of a plan of studies, for questions about which modules belong to an area or a term; English and German; pure.

A plan has a row a term and a column an area: “Semester: 1; Mathematics: Analysis (6); Law: Private law (6)”. Of a row
the areas that the question names answer, and the term that they stand in.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from chat.pipeline.retrieval.candidates import Candidate
from chat.pipeline.sentences.quotable import Quotable
from core.terms import content_words
from knowledge.words.synonyms import read_synonyms

#: Questions for several modules.
LISTS = re.compile(
    r"\b(?:was für|welche|what|which)\s+(?:\w+\s+){0,2}?(?:\w*modules?|\w*veranstaltungen|kurse|courses|fächer)\b",
    re.IGNORECASE,
)
#: What the heading of a plan, or the line above it, says.
PLAN = (
    r"studien(?:verlauf|ablauf|plan)|modul(?:plan|übersicht)|curriculum|(?:study|course) plan|plan of stud"
    r"|course structure"
)
#: Labels of the terms in a row.
TERM = re.compile(r"\W*(?:(?:studien)?jahr|(?:fach)?sem(?:ester|\.)?|year|term)(?: of study)?\W*:", re.IGNORECASE)
WORD = re.compile(r"\w+")
PARTS = re.compile(r";\s+")
OMITTED = "…"


@dataclass(frozen=True, slots=True)
class AskedPlan:
    """The words of a question that asks for several modules, with their synonyms; none where it does not."""

    words: frozenset[str] = frozenset()

    def shorten(self, candidate: Candidate, quote: Quotable) -> Quotable | None:
        """Return a row of a plan with its terms and those areas alone that the question names; None if it is none.

        The programme itself, which the title names, is no area.
        """
        parts = PARTS.split(quote.text) if self.words and not (quote.row or quote.items) else []
        if not any(map(_is_term, parts)):
            return None
        title = content_words(candidate.title)
        kept = [part for part in parts if _is_term(part) or self._names(part, title)]
        if all(map(_is_term, kept)):
            return None
        areas = "; ".join(part for part in kept if not _is_term(part))
        return replace(quote, text=areas, shown="; ".join(_with_gaps(parts, kept)))

    def _names(self, part: str, title: set[str]) -> bool:
        label, colon, value = part.partition(":")
        words = content_words(label)
        return bool(colon and value.strip() and words) and words <= self.words and not words <= title


def read_plan(question: str) -> AskedPlan:
    """Return what a question asks of a plan of studies."""
    if not LISTS.search(question):
        return AskedPlan()
    asked = WORD.findall(question)
    others = " ".join(form for _first, _end, forms in read_synonyms(asked) for form in forms if " " not in form)
    return AskedPlan(frozenset(content_words(f"{question} {others}")))


def _is_term(part: str) -> bool:
    """Return whether a part of a row says in which year or term it is."""
    return bool(TERM.match(part))


def _with_gaps(parts: list[str], kept: list[str]) -> Iterator[str]:
    """Yield the parts that are kept; the first one behind others that are left out begins with a sign for them."""
    was_left_out = False
    for part in parts:
        if part in kept:
            yield f"{OMITTED} {part}" if was_left_out else part
        was_left_out = part not in kept
