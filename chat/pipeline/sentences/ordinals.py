"""Ordinals of a question beside the figures of a row: the "first semester" is "Semester: 1", "1. Semester"; pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from chat.pipeline.verification.alignment import has_word
from chat.pipeline.verification.words import Word, read_words
from knowledge.words.numbers import read_number

#: Words and figures in order; a figure may be marked as an ordinal.
TOKEN = re.compile(r"\d+(?:st|nd|rd|th|\.(?!\d))?|[^\W\d_]+(?:[-'’][^\W\d_]+)*")
FIGURE = re.compile(r"(\d{1,2})(?:st|nd|rd|th|\.)")
NUMBER = re.compile(r"(\d+)(?:st|nd|rd|th|\.)?")


@dataclass(frozen=True, slots=True)
class Ordinal:
    """The `number` that a question asks for of something; `word` is the ordinal as it stands there."""

    number: str
    word: str
    counted: Word

    @property
    def key(self) -> str:
        """A key for sets of words' keys; no word has it."""
        return f"#{self.number} {self.counted.text.lower()}"

    def is_in(self, text: str) -> bool:
        """Return whether a text has the number beside the word that it counts."""
        tokens = TOKEN.findall(text)
        for place, token in enumerate(tokens):
            found = NUMBER.fullmatch(token)
            if (found[1].lstrip("0") if found else _read(token)) == self.number:
                beside = [*tokens[max(0, place - 1) : place], *tokens[place + 1 : place + 2]]
                if any(has_word(self.counted, word.keys) for each in beside for word in read_words(each)):
                    return True
        return False


def read_ordinals(question: str) -> Sequence[Ordinal]:
    """Return the ordinals of a question, in words or figures, that count the word behind them."""
    tokens = TOKEN.findall(question)
    found = []
    for token, behind in pairwise(tokens):
        number, words = _read(token), [word for word in read_words(behind) if word.keys]
        if number and words:
            found.append(Ordinal(number, token, words[0]))
    return found


def with_ordinals(words: Sequence[Word], ordinals: Sequence[Ordinal]) -> list[Word]:
    """Return a question's words, of which ordinals have their `key` too; one in figures is a word of its own."""
    keys = {ordinal.word: frozenset({ordinal.key}) for ordinal in ordinals}
    named = [replace(word, keys=word.keys | keys.pop(word.text, frozenset())) for word in words]
    return [*named, *(Word(text, 0, 0, key, is_content=True) for text, key in keys.items())]


def keys_of(text: str, ordinals: Sequence[Ordinal]) -> frozenset[str]:
    """Return the keys of the ordinals whose figures a text has."""
    return frozenset(ordinal.key for ordinal in ordinals if ordinal.is_in(text))


def _read(token: str) -> str:
    """Return the number of an ordinal, empty if the token is none."""
    if figure := FIGURE.fullmatch(token):
        return figure[1].lstrip("0")
    forms = read_number(token)
    is_ordinal = any(FIGURE.fullmatch(form) for form in forms)
    return next((form for form in forms if form.isdigit()), "") if is_ordinal else ""
