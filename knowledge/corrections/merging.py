"""Three-way merges: a text as read, as staff corrected it, and as its source says now; pure.

A unit is a line with the blank lines below it: a paragraph, a list item, a row of a table. Two changes touch if no
unchanged unit lies between them. So does a correction whose headings the source changed: they say what it is about.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import Enum
from itertools import accumulate
from typing import Self

#: More units than these, of which none stands once in both texts, are one change: comparing them takes seconds.
MOST_UNITS = 500
UNIT = re.compile(r"[^\n]*\n\s*\n|[^\n]*\n|[^\n]+")
HEADING = re.compile(r"(#{1,6})\s")


class By(Enum):
    """Who changed a place; `BOTH` said the same, `TOUCHING` is to be decided."""

    STAFF = "staff"
    SOURCE = "source"
    BOTH = "both"
    TOUCHING = "touching"


@dataclass(frozen=True, slots=True)
class Words:
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Place:
    """A place where the texts differ; `below` is the heading or the line above it."""

    by: By
    below: str
    original: str
    corrected: str
    new: str


@dataclass(frozen=True, slots=True)
class Merged:
    """The correction with what else changed at the source; where they touch, it has the correction."""

    words: Words
    places: tuple[Place, ...]

    @property
    def is_clean(self) -> bool:
        return all(place.by is not By.TOUCHING for place in self.places)


@dataclass(frozen=True, slots=True)
class _Change:
    """Units `first` to `last` of the original are replaced by `count` others."""

    first: int
    last: int
    count: int
    is_staff: bool


def same_words(one: Words, other: Words) -> bool:
    """Return whether they differ in blanks at the ends of lines at most, as what went through a form does."""
    return one.title.strip() == other.title.strip() and _keys(_units(one.text)) == _keys(_units(other.text))


def merge(original: Words, corrected: Words, new: Words) -> Merged:
    title, places = _merge_titles(original, corrected, new)
    text, further = _merge_texts(original.text, corrected.text, new.text)
    return Merged(Words(title, text), (*places, *further))


def _merge_titles(original: Words, corrected: Words, new: Words) -> tuple[str, list[Place]]:
    titles = (original.title, corrected.title, new.title)
    if original.title == corrected.title == new.title:
        return corrected.title, []
    if new.title in {original.title, corrected.title}:
        by = By.STAFF if new.title == original.title else By.BOTH
        return corrected.title, [Place(by, "", *titles)]
    is_about_it = not same_words(original, Words(original.title, corrected.text))
    if corrected.title != original.title or is_about_it:
        title = new.title if corrected.title == original.title else corrected.title
        return title, [Place(By.TOUCHING, "", *titles)]
    return new.title, [Place(By.SOURCE, "", *titles)]


def _merge_texts(original: str, corrected: str, new: str) -> tuple[str, list[Place]]:
    base, mine, theirs = _units(original), _units(corrected), _units(new)
    base_keys, my_keys, their_keys = _keys(base), _keys(mine), _keys(theirs)
    outline, their_outline = _Outline.of(base_keys), _Outline.of(their_keys)
    changes = [*_changes(base_keys, my_keys, is_staff=True), *_changes(base_keys, their_keys, is_staff=False)]
    written, places = list[str](), list[Place]()
    at = my_at = their_at = 0
    for group in _touching(changes):
        first, last = group[0].first, max(change.last for change in group)
        same = first - at
        for each in zip(base[at:first], mine[my_at : my_at + same], theirs[their_at : their_at + same], strict=True):
            written.append(max(each, key=_blank_lines))
        my_at, their_at = my_at + same, their_at + same
        my_end = my_at + last - first + _grown(group, is_staff=True)
        their_end = their_at + last - first + _grown(group, is_staff=False)
        by = _by(group)
        if by is By.TOUCHING and my_keys[my_at:my_end] == their_keys[their_at:their_end]:
            by = By.BOTH
        elif by is By.STAFF and outline.headings(first) != their_outline.headings(their_at):
            by = By.TOUCHING
        sides = base[first:last], mine[my_at:my_end], theirs[their_at:their_end]
        written += sides[2] if by is By.SOURCE else sides[1]
        places.append(Place(by, outline.above(first), *("".join(side).strip("\n") for side in sides)))
        at, my_at, their_at = last, my_end, their_end
    for each in zip(base[at:], mine[my_at:], theirs[their_at:], strict=True):
        written.append(max(each, key=_blank_lines))
    return _joined(written, like=corrected), places


def _units(text: str) -> list[str]:
    return UNIT.findall(text.replace("\r\n", "\n").replace("\r", "\n"))


def _keys(units: Sequence[str]) -> list[str]:
    return [unit.rstrip() for unit in units]


def _blank_lines(unit: str) -> int:
    return unit.count("\n")


def _changes(before: Sequence[str], after: Sequence[str], *, is_staff: bool) -> Iterator[_Change]:
    """Yield what differs, between units that stand once in each text: these are compared in no time."""
    at, there = 0, 0
    for anchor, place in [*_anchors(before, after), (len(before), len(after))]:
        old, new = before[at:anchor], after[there:place]
        if max(len(old), len(new)) > MOST_UNITS:
            yield _Change(at, anchor, len(new), is_staff)
        else:
            for operation, i1, i2, j1, j2 in SequenceMatcher(None, old, new).get_opcodes():
                if operation != "equal":
                    yield _Change(at + i1, at + i2, j2 - j1, is_staff)
        at, there = anchor + 1, place + 1


def _anchors(before: Sequence[str], after: Sequence[str]) -> list[tuple[int, int]]:
    """List the places of units that stand once in both, the most of them that keep their order (patience diff)."""
    in_before, in_after = Counter(before), Counter(after)
    places = {unit: place for place, unit in enumerate(after) if in_after[unit] == 1}
    pairs = [(at, places[unit]) for at, unit in enumerate(before) if in_before[unit] == 1 and unit in places]
    ends, lasts, previous = list[int](), list[int](), list[int]()
    for number, (_at, place) in enumerate(pairs):
        length = bisect_left(ends, place)
        previous.append(lasts[length - 1] if length else -1)
        ends[length : length + 1], lasts[length : length + 1] = [place], [number]
    kept, number = list[tuple[int, int]](), lasts[-1] if lasts else -1
    while number >= 0:
        kept.append(pairs[number])
        number = previous[number]
    return kept[::-1]


def _touching(changes: Sequence[_Change]) -> Iterator[list[_Change]]:
    """Yield groups of changes that touch each other, in the order of the text."""
    group: list[_Change] = []
    for change in sorted(changes, key=lambda each: (each.first, each.last)):
        if group and change.first > max(each.last for each in group):
            yield group
            group = []
        group.append(change)
    if group:
        yield group


def _grown(group: Sequence[_Change], *, is_staff: bool) -> int:
    return sum(each.count - (each.last - each.first) for each in group if each.is_staff == is_staff)


def _by(group: Sequence[_Change]) -> By:
    sides = {each.is_staff for each in group}
    return By.TOUCHING if len(sides) == 2 else By.STAFF if True in sides else By.SOURCE


@dataclass(frozen=True, slots=True)
class _Outline:
    """The headings of a text; `nearest` has for each place the last heading above it, or -1."""

    keys: Sequence[str]
    nearest: Sequence[int]

    @classmethod
    def of(cls, keys: Sequence[str]) -> Self:
        found = accumulate(enumerate(keys), lambda last, each: each[0] if HEADING.match(each[1]) else last, initial=-1)
        return cls(keys, list(found))

    def headings(self, place: int) -> list[str]:
        """List the headings that a place stands under, the nearest first."""
        found, level, at = list[str](), 7, self.nearest[place]
        while at >= 0:
            heading = HEADING.match(self.keys[at])
            if heading and len(heading[1]) < level:
                level = len(heading[1])
                found.append(self.keys[at])
            at = self.nearest[at]
        return found

    def above(self, place: int) -> str:
        """Return the nearest heading, else the line above."""
        at = self.nearest[place] if self.nearest[place] >= 0 else place - 1
        return self.keys[at].lstrip("# ") if at >= 0 else ""


def _joined(units: Sequence[str], *, like: str) -> str:
    """Join units; what was the last one of its text gets the blank line that it lacks."""
    *others, last = [unit if unit.endswith("\n") else f"{unit}\n\n" for unit in units] or [""]
    end = like[len(like.rstrip("\r\n")) :].replace("\r\n", "\n")
    return "".join(others) + last.rstrip("\n") + end
