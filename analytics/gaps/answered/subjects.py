"""Comparison of a question's subject with a text, by its words; pure.

A page on bicycle parking is near "Where can I park my car?" in meaning and shares a word with it. What tells the two
apart is the one word that the page lacks. See docs/decisions/0034-asked-again.md.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import lru_cache

from chat.pipeline.verification.facts import read_facts
from chat.pipeline.verification.words import EMPTY, Word, fold, read_words, stem, synonyms
from core.language import detect_language
from core.terms import GENERAL_WORDS, STOP_WORDS

#: Words that questions of all topics have: where, who, whether it is allowed, and how much of it.
WEAK_WORDS = """
university universities uni universität hochschule campus student students studierende studierenden studierender
studenten allowed allow permitted permission erlaubt erlauben möglich possible possibly want bring bringen mitbringen
mitnehmen nehmen kriegen kriege bekommen erhalten erhalte receive long lang lange hoch viel viele wieviel many much
often oft help hilfe information informationen infos info question frage know wissen available verfügbar close closes
closed open opened opens opening schließt schließen geschlossen öffnet öffnen geöffnet
"""
WEAK = frozenset(map(fold, WEAK_WORDS.split()))
#: The shortest beginning of a word that stands for all of its compounds.
LEAST_STEM = 4
#: Letters of a plural whose ending the stemmer leaves.
SHORT_PLURAL = 4

#: Tells whether one of the words, of another language, means the same as the first one.
Translates = Callable[[str, Sequence[str]], bool]


@dataclass(frozen=True, slots=True)
class Part:
    """A sentence, or headings: its words as they are written and folded, and the keys of their roots and meanings."""

    words: Sequence[str]
    plain: Sequence[str]
    keys: AbstractSet[str]


@dataclass(frozen=True, slots=True)
class Text:
    """A text to be compared: its headings or questions, its sentences, and all of them together."""

    language: str
    parts: Sequence[Part]
    whole: Part


@lru_cache(maxsize=512)
def read_text(parts: Sequence[str], language: str) -> Text:
    """Read a passage's title with headings and its sentences, or an FAQ's questions and its answer's sentences."""
    return Text(language.split("-")[0], tuple(map(_read_part, parts)), _read_part("\n".join(parts)))


def _read_part(text: str) -> Part:
    words = read_words(text)
    plain = tuple(fold(word.text) for word in words)
    written = tuple(dict.fromkeys(word.text for word in words if word.keys))
    return Part(written, plain, read_facts(text).keys | {_root(word) for word in plain})


def subject_words(question: str) -> list[Word]:
    """Return the words that say what a question is about."""
    return [word for word in read_words(question) if word.keys and not _is_weak(word)]


def _is_weak(word: Word) -> bool:
    plain = word.text.lower()
    # Of the stop words of both languages, "kind" is a German noun.
    is_stop = plain in STOP_WORDS and not word.is_capitalised
    return is_stop or plain in GENERAL_WORDS or fold(word.text) in WEAK | EMPTY


def shared_keys(questions: Iterable[str]) -> AbstractSet[str]:
    """Return the keys of the words that more than half of the questions share: what all of them are about."""
    keys = [frozenset(key for word in subject_words(question) for key in _own_keys(word)) for question in questions]
    every = {key for each in keys for key in each}
    return frozenset(key for key in every if 2 * sum(key in each for each in keys) > len(keys))


def is_about(
    question: str,
    text: Text,
    *,
    shared: AbstractSet[str],
    readings: Mapping[str, Sequence[str]],
    translates: Translates,
) -> bool:
    """Return whether one part of the text has all words that the question shares with its topic, and the text half of
    its others at least.

    In one part, since a page that is about something else may name them in passing. A synonym, a compound or another
    form counts as the word: `readings` are those that the pages have for a word or a phrase. In a text of the other
    language verbs are rarely found again, so that of a German question the nouns count, and of an English one more than
    half of the words.
    """
    words = subject_words(question)
    asked = detect_language(question) or text.language
    if asked == text.language:
        common = [word for word in words if _own_keys(word) & shared]
        others = [_has(text.whole, word, readings) for word in words if word not in common]
        in_one = any(all(_has(part, word, readings) for word in common) for part in text.parts)
        return bool(words) and in_one and 2 * sum(others) >= len(others)
    nouns = [word for word in words if asked == "de" and word.is_capitalised]
    for part in text.parts:
        covered = [_has(part, word, readings) or translates(word.text, part.words) for word in nouns or words]
        if covered and (all(covered) if nouns else 2 * sum(covered) > len(covered)):
            return True
    return False


def _own_keys(word: Word) -> frozenset[str]:
    """Return the keys of the word as a whole: a thesis and an essay ("Arbeit") are not the same by their last part."""
    plain = fold(word.text)
    meanings, stems = synonyms()
    return frozenset({_root(plain)} | (meanings.get(plain) or stems.get(stem(plain)) or set()))


def _root(plain: str) -> str:
    """Return the stem, of short words ("cars") without the plural's ending too."""
    found = stem(plain)
    return found.removesuffix("s") if len(found) == SHORT_PLURAL else found


def _has(text: Part, word: Word, readings: Mapping[str, Sequence[str]]) -> bool:
    if _own_keys(word) & text.keys or _is_part(stem(fold(word.text)), text.plain):
        return True
    for read, forms in readings.items():
        if word.text.lower() in read.lower().split() and any(_has_phrase(text.plain, form) for form in forms):
            return True
    return False


def _is_part(plain: str, words: Sequence[str]) -> bool:
    """Return whether a word of the text begins or ends with this one, as German compounds do."""
    if len(plain) < LEAST_STEM:
        return False
    return any(word.startswith(plain) or (stem(word).endswith(plain) or word.endswith(plain)) for word in words)


def _has_phrase(words: Sequence[str], form: str) -> bool:
    """Return whether the text has the words of a form one after the other."""
    wanted = [_root(fold(part)) for part in form.replace("-", " ").split()]
    stems = [_root(word) for word in words]
    places = range(len(stems) - len(wanted) + 1)
    return bool(wanted) and any(stems[place : place + len(wanted)] == wanted for place in places)
