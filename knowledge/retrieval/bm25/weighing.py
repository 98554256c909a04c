"""Queries of the words of a question, which are as rare as they are in all collections that are searched."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import tantivy

from knowledge.retrieval.bm25.collection_index import CollectionIndex, match_all, match_any, term_query
from knowledge.retrieval.bm25.schema import Term, read_terms
from knowledge.retrieval.tuning import MOST_TERMS, PHRASE_WEIGHT, READING_WEIGHTS
from knowledge.words.readings import Reading, Step


@dataclass(slots=True)
class Clause:
    """A term of the question, or the terms of a phrase, and what else it was read as, each with its weight.

    Of a reading in several terms a passage must have all.
    """

    term: Term | None = None
    parts: Sequence["Clause"] = ()
    others: dict[tuple[Term, ...], float] = field(default_factory=dict)


def read_clauses(text: str, readings: Sequence[Reading], *, fields: Sequence[str]) -> list[Clause]:
    """Return the clauses of a text in each field: what a passage has of them adds up."""
    return [clause for name in fields for clause in _read_field(text, readings, name)]


def _read_field(text: str, readings: Sequence[Reading], name: str) -> list[Clause]:
    words = {term: Clause((name, term)) for term in read_terms(text, name)[:MOST_TERMS]}
    free = dict(words)
    phrases: list[Clause] = []
    for reading in readings:
        if reading.step == Step.SPELLING:
            continue
        asked = read_terms(reading.word, name)
        clause = words.get(asked[0]) if len(asked) == 1 else None
        if clause is None:  # words that are in a phrase already count there
            clause = Clause(parts=[free.pop(term) for term in asked if term in free])
            phrases.append(clause)
        for form in reading.read_as:
            terms = tuple((name, term) for term in read_terms(form, name))
            if terms and not (len(terms) == 1 and terms[0][1] in words):
                weight = READING_WEIGHTS[reading.step] * (PHRASE_WEIGHT if len(terms) > 1 else 1)
                clause.others.setdefault(terms, weight)
    return [*free.values(), *phrases]


def weigh(
    clauses: Sequence[Clause], searched: Sequence[CollectionIndex]
) -> list[tuple[CollectionIndex, tantivy.Query]]:
    """Return each collection with its query.

    Tantivy counts in each index alone, so a term is weighted by how much rarer or more frequent it is in all of them.
    """
    counted = _Counts(searched)
    queries = []
    for place, index in enumerate(searched):
        parts = [query for clause in clauses if (query := _build(clause, counted, place))]
        if parts:
            queries.append((index, match_any(parts)))
    return queries


class _Counts:
    """Counts of the passages of each collection that have a term."""

    def __init__(self, searched: Sequence[CollectionIndex]) -> None:
        self._searched = searched
        self._sizes = [index.size for index in searched]
        self._known: dict[Term, list[int]] = {}

    def counts(self, term: Term) -> list[int]:
        if term not in self._known:
            self._known[term] = [index.count_passages_with(term) for index in self._searched]
        return self._known[term]

    def rarity(self, term: Term) -> float:
        return measure_rarity(sum(self.counts(term)), sum(self._sizes))

    def query(self, term: Term, place: int, weight: float = 1.0) -> tantivy.Query | None:
        """Return the query of a term in one collection; None if no passage of it has the term."""
        count = self.counts(term)[place]
        if not count:
            return None
        if len(self._searched) > 1:
            weight *= self.rarity(term) / measure_rarity(count, self._sizes[place])
        query = term_query(term)
        return query if weight == 1.0 else tantivy.Query.boost_query(query, weight)


def _build(clause: Clause, counted: _Counts, place: int) -> tantivy.Query | None:
    parts = [query for part in clause.parts if (query := _build(part, counted, place))]
    own = counted.query(clause.term, place) if clause.term else None
    own = own or (match_any(parts) if parts else None)
    # What a word was read as is never worth more than the word, if the pages have that.
    most = _rarity(clause, counted) or math.inf
    found = [own] if own else []
    for terms, weight in clause.others.items():
        whole = sum(counted.rarity(term) for term in terms)
        queries = [counted.query(term, place, weight * min(1.0, most / whole)) for term in terms]
        there = [query for query in queries if query]
        if len(there) == len(queries):
            found.append(there[0] if len(there) == 1 else match_all(there))
    if not found:
        return None
    return found[0] if len(found) == 1 else tantivy.Query.disjunction_max_query(found)


def _rarity(clause: Clause, counted: _Counts) -> float:
    """Return the rarity of what was asked, 0 if no page has it."""
    own = counted.rarity(clause.term) if clause.term and any(counted.counts(clause.term)) else 0.0
    return own + sum(_rarity(part, counted) for part in clause.parts)


def measure_rarity(count: int, size: int) -> float:
    """Return the inverse document frequency as Lucene does: of a term in `count` of `size` passages."""
    return math.log1p((max(size, count) - count + 0.5) / (count + 0.5))
