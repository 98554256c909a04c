"""Codes of courses, such as CS-101, in free text."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

#: Digits alone must be as many to read as a code in a text: "30 minutes" names no course 30.
LEAST_DIGITS = 4
RUN = re.compile(r"[^\W_]+")
SEPARATORS = frozenset("-._/ ")
#: Addresses are no prose: a link's target may hold any code.
ADDRESS = re.compile(r"\]\([^)\s]*\)|<[^>\s]*>|https?://\S+")


class Named(Protocol):
    @property
    def code(self) -> str: ...

    @property
    def name(self) -> str: ...


NamedT = TypeVar("NamedT", bound=Named)


@dataclass(frozen=True, slots=True)
class Mention:
    """A code in a text, at [start, end)."""

    start: int
    end: int
    key: str


def code_key(code: str) -> str:
    """Return the same key for CS-101, CS 101 and cs101."""
    return "".join(RUN.findall(code.casefold()))


@dataclass(frozen=True, slots=True)
class Codes:
    """Codes to look for: as they are written, by their keys."""

    written: Mapping[str, str]
    most_words: int

    @classmethod
    def of(cls, codes: Iterable[str]) -> "Codes":
        written: dict[str, str] = {}
        for code in codes:
            written.setdefault(code_key(code), code)
        # "CS101" may stand as two words in a text.
        return cls(written, max((len(RUN.findall(code)) for code in written.values()), default=0) + 1)


def mentions(text: str, codes: Codes) -> Iterator[Mention]:
    """Yield the places where `text` names one of `codes`, in order; the longest wins if one contains another."""
    prose = ADDRESS.sub(lambda address: " " * len(address.group()), text)
    runs = list(RUN.finditer(prose))
    first = 0
    while first < len(runs):
        reach = first + 1
        while reach < len(runs) and reach - first < codes.most_words and _may_join(runs[reach - 1], runs[reach], prose):
            reach += 1
        for last in range(reach, first, -1):
            start, end = runs[first].start(), runs[last - 1].end()
            key = code_key(prose[start:end])
            if key in codes.written and _reads_as(prose[start:end], codes.written[key]):
                yield Mention(start, end, key)
                first = last - 1
                break
        first += 1


def split_by_mention(text: str, courses: Sequence[NamedT]) -> tuple[list[NamedT], list[NamedT]]:
    """Split courses into those that `text` names by their codes, and the others."""
    found = {mention.key for mention in mentions(text, Codes.of(course.code for course in courses))}
    named = [course for course in courses if code_key(course.code) in found]
    return named, [course for course in courses if code_key(course.code) not in found]


def _may_join(left: re.Match[str], right: re.Match[str], text: str) -> bool:
    return text[left.end() : right.start()] in SEPARATORS


def _reads_as(found: str, code: str) -> bool:
    """Decide whether `found`, of the same letters and digits, means the code and not an everyday word or number."""
    same = found.casefold() == code.casefold()
    has_digit = any(character.isdigit() for character in code)
    has_letter = any(character.isalpha() for character in code)
    if has_digit and has_letter:
        return same or not re.search(r"\d[ ]\d", found)
    if has_digit:
        return same and len(code_key(code)) >= LEAST_DIGITS
    return found == code and len(code) > 1
