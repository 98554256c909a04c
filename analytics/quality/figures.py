"""What the judged samples of an assistant say: the share of right answers by week, agreement."""

import datetime
import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from analytics.models import SampledAnswer
from analytics.quality.judging import Verdict
from analytics.quality.sampling import REVIEWERS
from analytics.quality.statistics import Night
from chat.models import Assistant

GOOD = frozenset({Verdict.RIGHT, Verdict.RIGHTLY_ABSTAINED})
BAD_ANSWER = frozenset({Verdict.WRONG, Verdict.SHOULD_ABSTAIN})


@dataclass(frozen=True, slots=True)
class Judged:
    """A sampled answer with the verdicts of both judges; where they disagree, the worse one counts."""

    day: datetime.date
    evidence: float | None
    threshold: float
    is_shown: bool
    is_newcomer: bool
    verdicts: tuple[str, ...]

    @property
    def is_right(self) -> bool:
        return GOOD.issuperset(self.verdicts)

    @property
    def is_wrong(self) -> bool:
        """Return whether a wrong answer was shown."""
        return self.is_shown and not BAD_ANSWER.isdisjoint(self.verdicts)


@dataclass(frozen=True, slots=True)
class Week:
    """The week from `monday` on; `share` is that of right answers, and None where it is hidden."""

    monday: datetime.date
    judged: int
    people: int
    share: float | None


def read_judged(assistant: Assistant) -> list[Judged]:
    """Return the answers of all nights of which each answer is judged by two, oldest first: two queries.

    A night of which some are judged would be no random sample: what is hard to judge waits longest.
    """
    rows = SampledAnswer.objects.filter(assistant=assistant).prefetch_related("verdicts").order_by("day", "pk")
    found: list[Judged] = []
    for day, night in itertools.groupby(rows, key=lambda row: row.day):
        judged = [(row, tuple(each.verdict for each in row.verdicts.all())) for row in night]
        if all(len(verdicts) >= REVIEWERS for _row, verdicts in judged):
            found += [
                Judged(day, row.evidence, row.threshold, row.is_shown, row.is_newcomer, said) for row, said in judged
            ]
    return found


def by_week(judged: Sequence[Judged], *, least: int) -> list[Week]:
    """Return the weeks that have judged answers; the share of fewer than `least` people is hidden."""
    weeks = []
    for monday, rows in itertools.groupby(judged, key=lambda each: each.day - datetime.timedelta(each.day.weekday())):
        week = list(rows)
        people = sum(each.is_newcomer for each in week)
        share = sum(each.is_right for each in week) / len(week) if people >= least else None
        weeks.append(Week(monday, len(week), people, share))
    return weeks


def by_night(judged: Sequence[Judged]) -> list[Night]:
    found = []
    for _day, rows in itertools.groupby(judged, key=lambda each: each.day):
        night = list(rows)
        found.append(Night(sum(each.is_right for each in night), len(night)))
    return found


def verdict_pairs(judged: Sequence[Judged]) -> list[tuple[str, str]]:
    """Return the verdicts of who judged first and of who judged second."""
    return [(each.verdicts[0], each.verdicts[1]) for each in judged]
