"""Pages of one kind about two subjects, whose statements do not contradict each other; pure.

"Statutes of the students of biology" and "Statutes of the students of law" say the same of two councils in the same
sections, and each is right.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from analytics.contradictions.comparison.statements import Source, Statement, list_terms, plain_title, read_terms
from chat.pipeline.verification.alignment import has_word
from chat.pipeline.verification.units import ENDED, LIST_MARK, POINTS_BACK
from chat.pipeline.verification.words import WORD, Word, fold, read_words
from faqs.models import main_language

DIGITS = re.compile(r"\d+(?:[.,]\d+)*")
#: Two headings with this share of their words in common are those of one section.
SAME_SECTION = 0.5
#: Before a name in a sentence; behind other characters any word has a capital letter.
INSIDE = re.compile(r"[^\W\d_,;)][,;]?\s$")
#: Two capital letters, or letters and digits: "SpringerOpen", "S3".
SPELLED = re.compile(r"\w*[a-zäöü]\w*[A-ZÄÖÜ]|[A-ZÄÖÜ]{1,5}\d|[A-ZÄÖÜ]{2}")
#: Letters from which a word is a compound: "Fachschaftsrat", "Fachschaftsvertretung".
COMPOUND = 13
#: Nouns that name nothing: "in der Regel".
NO_NAMES = frozenset({"regel", "fall", "falle", "ubrigen", "folgenden", "anfang", "ende"})
#: Words of meaning before and behind the subjects of two titles that make them titles of one kind in any section.
LEAST_FRAME = 2


def are_parallel(one: Source, other: Source) -> bool:
    """Return whether two pages are of one kind, each about a subject of its own, as their titles and sections say."""
    if one.title == other.title:
        return False
    frame, is_apart = _compare_titles(*sorted((plain_title(one.title), plain_title(other.title))))
    if not is_apart or not frame:
        return False
    if frame >= LEAST_FRAME:
        return True
    sections = [_section(each) for each in (one, other)]
    return bool(sections[0] and sections[1]) and _likeness(*sections) >= SAME_SECTION


@lru_cache(maxsize=65_536)
def _compare_titles(one: str, other: str) -> tuple[int, bool]:
    """Return how many words of meaning frame the subjects of two titles, and whether the subjects are two."""
    ours, theirs = WORD.findall(one), WORD.findall(other)
    before = _count_same(ours, theirs)
    behind = _count_same(ours[before:][::-1], theirs[before:][::-1])
    first, second = (" ".join(words[before : len(words) - behind]) for words in (ours, theirs))
    frame = read_terms(" ".join((*ours[:before], *ours[len(ours) - behind :])))
    terms = [_read_whole_terms(text) for text in (first, second)]
    if terms[0] and terms[1] and not terms[0] & terms[1]:
        return len(frame), True
    if terms[0] == terms[1]:
        numbers = [frozenset(DIGITS.findall(text)) for text in (first, second)]
        is_apart = bool(numbers[0] - numbers[1] and numbers[1] - numbers[0])
        return len(frame), is_apart and len(frame | terms[0]) >= LEAST_FRAME
    return len(read_terms(one) & read_terms(other)), _have_other_names(one, other)


def _read_whole_terms(text: str) -> frozenset[str]:
    """Return the keys of a text's words; of a long compound all of it, whose end is lost in its stem."""
    words = WORD.findall(text)
    return frozenset(fold(word) if len(word) >= COMPOUND else key for word in words for key in read_terms(word))


def _have_other_names(one: str, other: str) -> bool:
    """Return whether a word of both titles has words behind it that the other title lacks: "faculty of law"."""
    followers = [_read_followers(title) for title in (one, other)]
    terms = [read_terms(title) for title in (one, other)]
    return any(
        followers[0][word] not in terms[1] and followers[1][word] not in terms[0]
        for word in followers[0].keys() & followers[1].keys()
    )


def _read_followers(title: str) -> dict[str, str]:
    """Return the word of meaning behind each of a title's words of meaning."""
    return dict(pairwise(list_terms(title)))


def _count_same(ours: Sequence[str], theirs: Sequence[str]) -> int:
    """Return with how many same words two titles begin."""
    same = (one.casefold() == other.casefold() for one, other in zip(ours, theirs, strict=False))
    return next((place for place, is_same in enumerate(same) if not is_same), min(len(ours), len(theirs)))


def name_others(one: Statement, other: Statement, sources: tuple[Source, Source]) -> bool:
    """Return whether each statement has a name that the other one lacks, in what it stands under too.

    A heading of one side that the other one does not know counts as its name.
    """
    sides = ((one, other, sources[0], sources[1]), (other, one, sources[1], sources[0]))
    if all(_has_names(ours, theirs, is_english=_is_english(source)) for ours, theirs, source, _ in sides):
        return True
    return any(
        _is_foreign_section(against, ours) and _has_names(ours, theirs, is_english=True)
        for ours, theirs, _, against in sides
    )


def stand_apart(one: Statement, other: Statement) -> bool:
    """Return whether one of the statements is no whole sentence, or points back, and they stand under other words."""
    if not any(_is_dependent(each.unit.text) for each in (one, other)):
        return False
    contexts = [read_terms(each.unit.context) for each in (one, other)]
    return bool(contexts[0] and contexts[1]) and not contexts[0] & contexts[1]


def _is_dependent(text: str) -> bool:
    return text[:1].islower() or bool(POINTS_BACK.match(text)) or not ENDED.search(LIST_MARK.sub("", text))


def _section(source: Source) -> frozenset[str]:
    """Return the words of the heading that a source stands under, none where it is the page's title."""
    inner = [heading for heading in source.headings if heading != source.title]
    return read_terms(inner[-1]) if inner else frozenset()


def _likeness(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other)


def _is_foreign_section(source: Source, against: Statement) -> bool:
    words = [word for word in _words(source.headings[-1]) if word.keys] if len(source.headings) > 1 else []
    return bool(words) and not any(has_word(word, against.whole.keys) for word in words)


def _is_english(source: Source) -> bool:
    return main_language(source.language) == "en"


def _has_names(statement: Statement, other: Statement, *, is_english: bool) -> bool:
    """Return whether a statement has a name that the other one lacks; in English, each word with a capital letter."""
    text = statement.unit.text
    figures = " ".join(figure.text for figure in statement.own.figures)
    return any(
        word.keys
        and (SPELLED.match(word.text) or (is_english and _is_capitalised(word, text)))
        and word.text not in figures
        and not has_word(word, other.whole.keys)
        for word in _words(text)
    )


def _is_capitalised(word: Word, text: str) -> bool:
    """Return whether a word within a sentence has a capital letter; "Regel40" is a slip."""
    is_word = word.is_capitalised and word.text.isalpha() and fold(word.text) not in NO_NAMES
    return is_word and bool(INSIDE.search(text[: word.start]))


@lru_cache(maxsize=8192)
def _words(text: str) -> tuple[Word, ...]:
    return tuple(read_words(text))
