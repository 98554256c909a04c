"""Finds what two statements in nearly the same words bound, oblige, permit, deny or count otherwise; pure."""

import re
from collections import Counter

from analytics.contradictions.comparison.statements import Statement
from chat.pipeline.verification.alignment import Alignment, Candidate
from chat.pipeline.verification.comparison import compare
from chat.pipeline.verification.differences.types import Differences
from chat.pipeline.verification.facts import Facts
from chat.pipeline.verification.signals import ADVISED, EXEMPT, FORBIDDEN, MODALITY, OBLIGED, PERMITTED, QUANTITY
from chat.pipeline.verification.units import POINTS_BACK
from chat.pipeline.verification.words import fold, stem

CONFLICTS = frozenset(
    frozenset(pair)
    for pair in (
        (OBLIGED, PERMITTED),
        (OBLIGED, EXEMPT),
        (OBLIGED, FORBIDDEN),
        (FORBIDDEN, PERMITTED),
        (ADVISED, OBLIGED),
        (ADVISED, FORBIDDEN),
    )
)
ORDER = (
    ("before", re.compile(r"\b(?:before|prior to|vor|bevor)\b", re.IGNORECASE)),
    ("after", re.compile(r"\b(?:after|following|nach|nachdem)\b", re.IGNORECASE)),
)
QUANTITIES = tuple((name, pattern) for name, pattern in QUANTITY if name != "only")
BOUNDS = (
    (
        "least",
        re.compile(r"\b(?:at least|minimum|no (?:less|fewer) than|more than|mindestens|mehr als)\b", re.IGNORECASE),
    ),
    (
        "most",
        re.compile(
            r"\b(?:at most|maximum|no more than|less than|fewer than|up to|höchstens|maximal|bis zu|weniger als)\b",
            re.IGNORECASE,
        ),
    ),
)
FORBIDS = re.compile(r"(?:please )?(?:do not|don['’]t|never)\s+(?P<verb>[^\W\d_]+)", re.IGNORECASE)
AHEAD = re.compile(r"\b(?:will|wird|werden)\b", re.IGNORECASE)
PAST = re.compile(r"\b(?:was|were|(?:has|have) been|wurden?|(?:ist|sind) .{0,60}worden)\b", re.IGNORECASE)
#: Letters behind a beginning such as "un-".
LEAST_REST = 4
Patterns = tuple[tuple[str, re.Pattern[str]], ...]


def find_wording(one: Statement, other: Statement) -> tuple[str, str, str] | None:
    """Return kind and words of the difference, or None."""
    first, second = one.own, other.own
    if _is_step(one, other) or _is_step(other, one):
        return None
    for kind, patterns in (("bound", BOUNDS), ("bound", ORDER), ("modality", MODALITY), ("quantity", QUANTITIES)):
        ours, theirs = excess(patterns, first.text, second.text)
        if kind == "bound" and _are_of_two_times(first.text, second.text):
            continue
        if kind == "modality" and _deny_twice(one, other, {*ours, *theirs}):
            return None
        if len(ours) == len(theirs) == 1 and (kind != "modality" or frozenset((*ours, *theirs)) in CONFLICTS):
            return kind, next(iter(ours.values())), next(iter(theirs.values()))
    found = [_compare(a, b) for a, b in ((one, other), (other, one))]
    both = [each.features for each in found]
    words = [each.doubts.get("polarity", "") for each in found]
    if not _are_of_two_times(first.text, second.text) and all(
        features["bound_conflicts"] or features["bound_direction"] for features in both
    ):
        return "bound", found[0].doubts.get("bound", ""), found[1].doubts.get("bound", "")
    if poles := [
        name for name, signs in first.poles.items() if name in second.poles and not signs & second.poles[name]
    ]:
        return "polarity", poles[0], poles[0]
    for word, contrary in ((first, second), (second, first)):
        if said := _find_contrary(word, contrary):
            return "polarity", said, said
    if FORBIDDEN in first.modality & second.modality:
        return None  # "not possible" and "prohibited"
    if (first.negations % 2) != (second.negations % 2) and all(features["sign_conflicts"] for features in both):
        return "polarity", words[0], words[1]
    return None


def _is_step(one: Statement, other: Statement) -> bool:
    """Return whether a statement introduces what follows, points back with a word that the other one has not, or
    forbids what the other one does not speak of."""
    text = one.unit.text
    if text.endswith(":"):
        return True
    back = POINTS_BACK.match(text)
    if back and not re.search(rf"\b{re.escape(back[0])}\b", other.unit.text, re.IGNORECASE):
        return True
    forbidden = FORBIDS.match(text)
    return forbidden is not None and stem(fold(forbidden["verb"])) not in other.own.keys


def _deny_twice(one: Statement, other: Statement, said: set[str]) -> bool:
    """Return whether one denies both of what the other one affirms: "no refund unless ...", "a refund if ..."."""
    counts = [each.own.negations for each in (one, other)]
    return said == {FORBIDDEN, PERMITTED} and counts[0] != counts[1] and counts[0] % 2 == counts[1] % 2


def _are_of_two_times(one: str, other: str) -> bool:
    """Return whether one announces what the other one tells of as past: "will close by May", "closed since May"."""
    return any(AHEAD.search(ours) and PAST.search(theirs) for ours, theirs in ((one, other), (other, one)))


def _find_contrary(one: Facts, other: Facts) -> str:
    """Return a word that is one of the other text with a beginning such as "un-"; "in depth" is not "indepth"."""
    for word in one.content:
        for prefix in ("un", "non-", "dis", "im", "ir", "in"):
            plain = fold(word.text)
            rest = plain.removeprefix(prefix)
            is_apart = re.search(rf"\b{re.escape(prefix)}\s?-?{re.escape(rest)}", other.text, re.IGNORECASE)
            if len(rest) > LEAST_REST and rest != plain and stem(rest) in other.keys and not is_apart:
                return word.text
    return ""


def excess(patterns: Patterns, first: str, second: str) -> tuple[dict[str, str], dict[str, str]]:
    """Return what each text has more often than the other one, with its last words for it."""
    ours, theirs = _count(patterns, first), _count(patterns, second)
    counts = Counter({name: len(ours.get(name, ())) for name, _ in patterns})
    counts.subtract({name: len(theirs.get(name, ())) for name, _ in patterns})
    return (
        {name: ours[name][-1] for name, count in counts.items() if count > 0},
        {name: theirs[name][-1] for name, count in counts.items() if count < 0},
    )


def _count(patterns: Patterns, text: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, pattern in patterns:  # what one has read is hidden from the next
        found[name] = [match[0] for match in pattern.finditer(text)]
        text = pattern.sub(lambda match: "\x00" * len(match[0]), text)
    return {name: words for name, words in found.items() if words}


def _compare(one: Statement, other: Statement) -> Differences:
    candidate = Candidate(other.unit, other.own.text, other.own, other.whole)
    return compare(one.own, Alignment(candidate, None, (), 1.0, 1.0), other.whole, [candidate], similarity=None)
