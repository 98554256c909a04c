"""Documents of one kind for several programmes, such as handbooks, and which of them a question names; pure.

A module is in the handbooks of several programmes, in nearly the same words, and not for the same credits. Titles that
are the same up to a colon tell handbooks from other documents: “Module handbook: B.Sc. Economics”.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from core.terms import distinct_words, topic_words
from knowledge.chunking.periods import without_periods
from knowledge.words.synonyms import read_synonyms

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
#: Words of a question that are compared at most: those of a pasted page would only cost time.
MOST_WORDS = 64


def names_programme(question: str) -> bool:
    """Return whether a question names a degree or speaks of a programme."""
    return bool(NAMES_PROGRAMME.search(question))


def choose_programmes(question: str, titles: Mapping[int, str]) -> Iterator[tuple[set[int], set[int]]]:
    """Yield, for each kind of documents, those of the programme that the question names, and the others, if any.

    `titles` has the documents' titles by their ids.
    """
    for members in _series(titles):
        named = _most_named(question, members)
        if others := members.keys() - named:
            yield named, others


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
    words = WORD.findall(without_periods(question))[:MOST_WORDS]
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
