"""Words over the ends of lines, with and without hyphens; pure."""

import re
from collections.abc import Collection, Iterable, Sequence

from core.terms import LETTERS

HYPHENS = ("-", "\u2010", "\u00ad")
#: After these a hyphen at a line's end is a word of its own part: “Studien- und Prüfungsordnung”.
CONJUNCTIONS = {"und", "oder", "bzw.", "bzw", "sowie", "bis", "and", "or", "to", "nor"}
#: English prefixes that keep their hyphen.
PREFIXES = {"self", "well", "non", "e", "ex", "x", "co", "all", "half", "cross", "user", "long", "short", "high", "low"}
HYPHENATED = re.compile(r"\b[^\W\d_]+(?:-[^\W\d_]+)+\b")


def comparable(text: str) -> str:
    """Reduce a text to letters and digits."""
    return "".join(char for char in text.casefold() if char.isalnum())


def join_words(before: str, after: str, known: Collection[str] = frozenset()) -> str:
    """Join two lines of a paragraph; `known` holds the words, hyphenated or not, that stand within lines."""
    if not before or not after:
        return before or after
    if not before.endswith(HYPHENS) or len(before) < 2 or not (before[-2].isalnum()):
        return f"{before} {after}"
    head, tail = before[:-1], after.split(maxsplit=1)[0]
    if tail in CONJUNCTIONS:
        return f"{head}- {after}"
    if before.endswith("\u00ad"):
        return head + after
    first = re.split(r"[^\w-]", tail, maxsplit=1)[0]
    if not first or not first[0].isalpha() or first[0].isupper():
        return f"{head}-{after}"
    last = re.split(r"[^\w-]", head)[-1]
    if f"{last}-{first}".casefold() in known:
        return f"{head}-{after}"
    if f"{last}{first}".casefold() in known:
        return head + after
    if (
        last.casefold() in PREFIXES
        or ("-" in last and len(last.rpartition("-")[2]) < 2)
        or (not last.isalpha() and "-" not in last)
    ):
        return f"{head}-{after}"
    return head + after


def join_lines(lines: Sequence[str], known: Collection[str] = frozenset()) -> str:
    joined = ""
    for line in lines:
        joined = join_words(joined, line, known)
    return joined


def vocabulary(lines: Iterable[str]) -> set[str]:
    """Collect the words within lines, without each line's first and last, which may be halves."""
    found: set[str] = set()
    for line in lines:
        inner = line.split()[1:-1]
        text = " ".join(inner).casefold()
        found.update(LETTERS.findall(text))
        found.update(HYPHENATED.findall(text))
    return found
