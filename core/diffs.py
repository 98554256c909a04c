"""Differences between two versions of a text, line by line and word by word; pure."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import islice
from typing import Literal

#: Unchanged lines shown around a change.
CONTEXT = 2
#: Longer versions are not compared, and a longer result is not shown in full.
MOST_LINES = 5_000
MOST_SHOWN = 1_000
#: Pairs of words compared before the changed lines that follow are shown whole, without marking the words.
MOST_PAIRS = 4_000_000
#: A figure is one word: "318.40" and "312,40" differ as a whole.
WORD = re.compile(r"\d+(?:[.,:]\d+)+|\w+|\n|[^\S\n]+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Part:
    text: str
    is_changed: bool


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the comparison; of `skipped` ones there are `count`, which are not shown."""

    kind: Literal["same", "removed", "added", "skipped"]
    parts: tuple[Part, ...] = ()
    count: int = 0


@dataclass(frozen=True, slots=True)
class Comparison:
    """`is_cut`: there is more than is compared or shown."""

    lines: tuple[Line, ...]
    is_cut: bool


def compare(old: str, new: str) -> Comparison:
    before, after = old.splitlines(), new.splitlines()
    lines = tuple(islice(_lines(before[:MOST_LINES], after[:MOST_LINES]), MOST_SHOWN + 1))
    is_cut = max(len(before), len(after)) > MOST_LINES or len(lines) > MOST_SHOWN
    return Comparison(lines[:MOST_SHOWN], is_cut)


def _lines(before: Sequence[str], after: Sequence[str]) -> Iterator[Line]:
    matcher = SequenceMatcher(None, before, after)
    shown, pairs = 0, 0
    for group in matcher.get_grouped_opcodes(CONTEXT):
        if skipped := group[0][1] - shown:
            yield Line("skipped", count=skipped)
        for operation, i1, i2, j1, j2 in group:
            if operation == "equal":
                yield from (Line("same", (Part(text, False),)) for text in before[i1:i2])
            else:
                old, new = (WORD.findall("\n".join(lines)) for lines in (before[i1:i2], after[j1:j2]))
                pairs += len(old) * len(new)
                if old and new and pairs <= MOST_PAIRS:
                    yield from _by_words(old, new)
                else:
                    yield from (Line("removed", (Part(text, False),)) for text in before[i1:i2])
                    yield from (Line("added", (Part(text, False),)) for text in after[j1:j2])
        shown = group[-1][2]
    if shown and shown < len(before):
        yield Line("skipped", count=len(before) - shown)


def _by_words(old: Sequence[str], new: Sequence[str]) -> Iterator[Line]:
    """Yield the lines of both sides with the words marked in which they differ."""
    removed: list[tuple[str, bool]] = []
    added: list[tuple[str, bool]] = []
    for operation, i1, i2, j1, j2 in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        removed += [(word, operation != "equal") for word in old[i1:i2]]
        added += [(word, operation != "equal") for word in new[j1:j2]]
    yield from (Line("removed", parts) for parts in _split(removed))
    yield from (Line("added", parts) for parts in _split(added))


def _split(words: Sequence[tuple[str, bool]]) -> Iterator[tuple[Part, ...]]:
    """Split words into lines, and merge neighbouring words of one kind into one part."""
    parts: list[Part] = []
    for word, is_changed in words:
        if word == "\n":
            yield tuple(parts)
            parts = []
        elif parts and parts[-1].is_changed == is_changed:
            parts[-1] = Part(parts[-1].text + word, is_changed)
        else:
            parts.append(Part(word, is_changed))
    yield tuple(parts)
