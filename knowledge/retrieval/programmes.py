"""Handbooks of several programmes in a ranking: those of the programme that a question names come first.

A module is in the handbooks of several programmes, in nearly the same words, and not for the same credits. Handbooks
are told from other documents by their titles, which are the same up to a colon: “Module handbook: B.Sc. Economics”.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from core.db.prepared import fetch_all
from core.terms import distinct_words, topic_words
from knowledge.chunking.periods import without_periods
from knowledge.retrieval.tuning import LEAST_PROGRAMME_SHARE
from knowledge.words.synonyms import read_synonyms

TITLES = "SELECT id, title FROM knowledge_document WHERE id = ANY(%s::bigint[])"
#: The degrees that titles and questions name, however they write them.
DEGREES = {
    "bachelor": re.compile(r"\bbachelor|\bb\.\s?(?:sc|a|ed|eng)\b|\bbsc\b", re.IGNORECASE),
    "master": re.compile(r"\bmaster|\bm\.\s?(?:sc|a|ed|eng)\b|\bmsc\b", re.IGNORECASE),
}
#: A question with none of these words names no programme.
NAMES_PROGRAMME = re.compile(
    rf"{'|'.join(each.pattern for each in DEGREES.values())}|\bstudien(?:gang|gänge|fach)|\bprogram|\bdegree\b",
    re.IGNORECASE,
)
WORD = re.compile(r"\w+")


def prefer_programmes(
    order: Sequence[int], documents: Mapping[int, int], scores: Mapping[int, float], question: str
) -> list[int]:
    """Return the passages with those of the programme named before those of documents that differ in it.

    Such a passage gives way if the programme's best one has some share of its score, and else keeps its place.
    `documents` has each passage's document. One query, if the question names a degree or speaks of a programme.
    """
    if not NAMES_PROGRAMME.search(question):
        return list(order)
    titles = dict(fetch_all(TITLES, [list({documents[passage] for passage in order})]))
    behind: set[int] = set()
    for members in _series(titles):
        named = _most_named(question, members)
        if len(named) == len(members):
            continue
        best = max(scores.get(passage, 0.0) for passage in order if documents[passage] in named)
        others = {passage for passage in order if documents[passage] in members and documents[passage] not in named}
        behind |= {passage for passage in others if best >= LEAST_PROGRAMME_SHARE * scores.get(passage, 0.0)}
    return [*(passage for passage in order if passage not in behind), *(each for each in order if each in behind)]


def _series(titles: Mapping[int, str]) -> Iterator[dict[int, str]]:
    """Yield what the titles of documents of one kind say behind their colon, by document."""
    found: defaultdict[str, dict[int, str]] = defaultdict(dict)
    for document, title in titles.items():
        kind, colon, rest = title.partition(": ")
        if colon:
            found[kind.casefold()][document] = rest
    return (members for members in found.values() if len(members) > 1)


def _most_named(question: str, members: Mapping[int, str]) -> set[int]:
    """Return the documents whose programme the question says most of: the degree, the subject, or both side by side."""
    words = WORD.findall(without_periods(question))
    said = [_readings(word) for word in words]
    titles = {document: (without_periods(title), distinct_words(title)) for document, title in members.items()}
    has = {document: [_has(readings, *title) for readings in said] for document, title in titles.items()}
    telling = [len({found[place] for found in has.values()}) > 1 for place in range(len(words))]

    def count(document: int) -> int:
        own = [tells and found for tells, found in zip(telling, has[document], strict=True)]
        named = {reading for readings, found in zip(said, own, strict=True) if found for reading in readings[:1]}
        return len(named) + sum(one and other for one, other in pairwise(own))

    counts = {document: count(document) for document in members}
    most = max(counts.values())
    return {document for document, number in counts.items() if number == most}


def _readings(word: str) -> tuple[str, ...]:
    """Return what a word of a question stands for in a title: a degree, or itself and its synonyms; empty for none."""
    if degree := next((degree for degree, pattern in DEGREES.items() if pattern.match(word)), ""):
        return (degree,)
    if not topic_words(word) or len(word) < 3 or NAMES_PROGRAMME.match(word):
        return ()
    return (word.lower(), *(form for _first, _end, forms in read_synonyms([word]) for form in forms))


def _has(readings: Sequence[str], title: str, words: set[str]) -> bool:
    degree = DEGREES.get(readings[0]) if readings else None
    return bool(degree.search(title)) if degree else any(set(WORD.findall(each)) <= words for each in readings)
