"""The words of a question as the pages may have them: every step in its order; pure."""

import re
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from core.terms import STOP_WORDS
from knowledge.words.abbreviations import Abbreviations, read_abbreviations
from knowledge.words.compounds import join_compounds, split_compound
from knowledge.words.numbers import read_number
from knowledge.words.readings import Reading, Step
from knowledge.words.spelling import correct_spelling
from knowledge.words.synonyms import read_synonyms
from knowledge.words.vocabulary import LONGEST, Words

WORD = re.compile(r"\w+")
#: Words that are read at most: those of a pasted page would only cost time.
MOST = 32
#: Other words and phrases that are looked up for one.
MOST_FORMS = 8


@dataclass(frozen=True, slots=True)
class Pages:
    """Everything that is known of the words of the pages in scope.

    `words` are those of all pages, `german` of the German ones. `has` tells whether a page has all words of a phrase in
    some inflection, `is_known` whether a word that no page has is no slip.
    """

    words: Words
    german: Words
    abbreviations: Sequence[Abbreviations]
    has: Callable[[str], bool]
    is_known: Callable[[str], bool]


def read_question(text: str, pages: Pages, *, steps: AbstractSet[Step]) -> tuple[str, list[Reading]]:
    """Return a question without slips of spelling, and how its words were read."""
    readings = []
    if Step.SPELLING in steps:
        asked = text
        text = correct_spelling(asked, pages.words, is_known=lambda word: _is_read(word, pages, steps))
        if text != asked:
            pairs = zip(WORD.findall(asked), WORD.findall(text), strict=True)
            changed = dict.fromkeys((word, right) for word, right in pairs if word != right)
            readings = [Reading(Step.SPELLING, word, (right,)) for word, right in changed]
    words = [word for word in WORD.findall(text)[:MOST] if len(word) <= LONGEST]
    found: dict[tuple[Step, str], None] = {}
    for reading in _read(words, pages, steps):
        forms = [form for form in reading.read_as if reading.step == Step.COMPOUNDS or pages.has(form)]
        if forms and (reading.step, reading.word) not in found:
            found[reading.step, reading.word] = None
            readings.append(Reading(reading.step, reading.word, tuple(forms[:MOST_FORMS])))
    return text, readings


def _is_read(word: str, pages: Pages, steps: AbstractSet[Step]) -> bool:
    """Return whether a word that no page has is no slip, because it is a common one or read otherwise."""
    others = _read([word], pages, steps)
    return pages.is_known(word) or any(pages.has(form) for reading in others for form in reading.read_as)


def _read(words: Sequence[str], pages: Pages, steps: AbstractSet[Step]) -> Iterator[Reading]:
    if Step.ABBREVIATIONS in steps:
        for first, end, forms in read_abbreviations(words, pages.abbreviations):
            yield Reading(Step.ABBREVIATIONS, " ".join(words[first:end]), forms)
    topics = [word for word in words if word.lower() not in STOP_WORDS]
    if Step.NUMBERS in steps:
        for word in words:
            yield Reading(Step.NUMBERS, word, read_number(word))
    if Step.COMPOUNDS in steps:
        yield from _read_compounds(topics, pages.german)
    if Step.SYNONYMS in steps:
        for first, end, forms in read_synonyms(words):
            if end - first > 1 or words[first].lower() not in STOP_WORDS:
                yield Reading(Step.SYNONYMS, " ".join(words[first:end]), forms)


def _read_compounds(topics: Sequence[str], german: Words) -> Iterator[Reading]:
    joined: dict[str, list[str]] = {}
    for word, other, compound in join_compounds(topics, german):
        joined.setdefault(f"{word} {other}", []).append(compound)
    for pair, compounds in joined.items():
        yield Reading(Step.COMPOUNDS, pair, tuple(dict.fromkeys(compounds)))
    for word in topics:
        if parts := split_compound(word, german):
            yield Reading(Step.COMPOUNDS, word, (" ".join(parts),))
