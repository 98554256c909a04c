"""Two statements compared: are they about the same matter, and do they say different things of it; pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from analytics.contradictions.comparison.pages import name_others, stand_apart
from analytics.contradictions.comparison.scope import differ
from analytics.contradictions.comparison.statements import Source, Statement, comparable, read_addresses
from analytics.contradictions.comparison.values import find_changes
from analytics.contradictions.comparison.wording import find_wording
from chat.pipeline.verification.alignment import has_word
from chat.pipeline.verification.facts import Facts
from chat.pipeline.verification.units import ENDED
from chat.pipeline.verification.words import Word, fold, opposites, word_keys

#: Shares of the words, weighed by rarity, that the statements have in each other: of the one that says less beside, and
#: of the other, which may have words around the same.
LEAST_FULLER, LEAST_LONGER = 0.8, 0.4
#: Both shares multiplied.
LEAST_SCORE = 0.5
#: The same for differences that no figure shows.
LEAST_FULLER_WORDED, LEAST_LONGER_WORDED = 0.9, 0.58
#: Words in common besides addresses.
LEAST_KEYS_WORDED = 3
#: Of the words of the statement that says less beside, those that stand in the same order in the other one without many
#: others between them.
LEAST_IN_ORDER = 0.8
#: What both may say in other words, as a share of the words: more are two subjects.
MOST_OTHER = 0.15
#: Least weight of the words in common, so that "It is open until 18:00" is compared with no other such sentence.
LEAST_COMMON = 9.0
#: The same for what is no whole sentence, under headings and titles without a word in common.
LEAST_COMMON_APART = 25.0
USUAL_WEIGHT = 8.0
#: Names of months and days are compared as parts of dates.
DATE_NAMES = (
    "January", "February", "March", "April", "June", "July", "August", "September", "October", "November", "December",
    "Januar", "Februar", "März", "Mai", "Juni", "Juli", "Oktober", "Dezember", "Monday", "Tuesday", "Wednesday",
    "Thursday", "Friday", "Saturday", "Sunday", "Montag", "Dienstag", "Mittwoch", "Donnerstag", "Freitag", "Samstag",
    "Sonntag",
)  # fmt: skip
#: Words that only bound a figure are compared as its bounds.
BOUNDING = frozenset(
    {"least", "most", "minimum", "maximum", "less", "more", "fewer", "before", "after"}
    | {"mindestens", "hochstens", "minimal", "maximal", "wenigstens", "weniger"}
)
OF_DATES = frozenset(key for name in DATE_NAMES for key in word_keys(fold(name)))


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference of two statements: one of `Contradiction.Kind`, and the words of each side."""

    kind: str
    first: str
    second: str
    score: float


@dataclass(frozen=True, slots=True)
class Shared:
    """The common part of two statements.

    Shares of their words, the weight of those in common, and what both say otherwise, as a share of the shorter one.
    """

    first: float
    second: float
    weight: float
    other: float

    @property
    def fuller(self) -> float:
        return max(self.first, self.second)

    @property
    def longer(self) -> float:
        return min(self.first, self.second)


def share_words(one: Statement, other: Statement, weights: Mapping[str, float]) -> Shared:
    """Return how much of each statement the other one says too."""
    sides = [_cover(one.own, other, weights), _cover(other.own, one, weights)]
    same = USUAL_WEIGHT * len(read_addresses(one.unit.text) & read_addresses(other.unit.text))
    sides = [(covered + same, missing, common + same) for covered, missing, common in sides]
    totals = [max(covered + missing, 1e-6) for covered, missing, _common in sides]
    return Shared(
        sides[0][0] / totals[0],
        sides[1][0] / totals[1],
        min(sides[0][2], sides[1][2]),
        min(sides[0][1], sides[1][1]) / min(totals),
    )


def find_difference(
    one: Statement, other: Statement, weights: Mapping[str, float], sources: Sequence[Source]
) -> Difference | None:
    """Return what the two say differently about one matter; None if they agree or speak of different things."""
    shared = share_words(one, other, weights)
    score = shared.first * shared.second
    if shared.fuller < LEAST_FULLER or shared.longer < LEAST_LONGER or score < LEAST_SCORE:
        return None
    if shared.other > MOST_OTHER or shared.weight < LEAST_COMMON or differ(one, other, sources):
        return None
    if name_others(one, other, (sources[one.source], sources[other.source])):
        return None
    if shared.weight < LEAST_COMMON_APART and stand_apart(one, other):
        return None
    changes = find_changes(one, other)
    if changes is None:
        return None
    if changes:
        return Difference(changes[0].kind, changes[0].first, changes[0].second, score)
    if shared.fuller < LEAST_FULLER_WORDED or shared.longer < LEAST_LONGER_WORDED:
        return None
    texts = (one.unit.text, other.unit.text)
    if not all(text[:1].isupper() and ENDED.search(text) for text in map(comparable, texts)):
        return None  # no whole sentence
    if len(one.own.keys & other.own.keys) < LEAST_KEYS_WORDED:
        return None
    if _share_in_order(one, other, weights) < LEAST_IN_ORDER:
        return None
    worded = find_wording(one, other)
    return Difference(*worded, score) if worded else None


def _share_in_order(one: Statement, other: Statement, weights: Mapping[str, float]) -> float:
    """Return the weight of the words in the same order, as a share of the shorter statement, or of what they span."""
    ours, theirs = ([(min(word.keys), _weight(word, weights)) for word in _compared(each.own)] for each in (one, other))
    matcher = SequenceMatcher(None, [key for key, _ in ours], [key for key, _ in theirs], autojunk=False)
    blocks = [block for block in matcher.get_matching_blocks() if block.size]
    if not blocks:
        return 0.0
    first = ours[blocks[0].a : blocks[-1].a + blocks[-1].size]
    second = theirs[blocks[0].b : blocks[-1].b + blocks[-1].size]
    same = sum(weight for block in blocks for _key, weight in ours[block.a : block.a + block.size])
    spanned = max(_sum(first), _sum(second))
    return same / max(spanned, min(_sum(ours), _sum(theirs)), 1e-6)


def _sum(words: Sequence[tuple[str, float]]) -> float:
    return sum(weight for _key, weight in words)


def _cover(ours: Facts, other: Statement, weights: Mapping[str, float]) -> tuple[float, float, float]:
    """Return the weights of the words that the other one has too, of those it lacks, and of those in common."""
    covered = missing = common = 0.0
    keys = other.own.keys
    for word in _compared(ours):
        weight = _weight(word, weights)
        if word.keys & keys or has_word(word, keys):
            covered += weight
            common += weight
        elif has_word(word, other.whole.keys):
            covered += weight
            common += weight / 2
        else:
            missing += weight
    return covered, missing, common


def _compared(facts: Facts) -> Iterator[Word]:
    """Yield the words of meaning that are compared as words, and not as parts of values."""
    for word in facts.content:
        plain = fold(word.text)
        if not (plain in opposites() or plain in BOUNDING or word.keys & OF_DATES):
            yield word


def _weight(word: Word, weights: Mapping[str, float]) -> float:
    return max((weights[key] for key in word.keys if key in weights), default=USUAL_WEIGHT)
