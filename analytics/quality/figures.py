"""Computes figures of judged samples: the share of right answers by week and the agreement, of staff and of a model."""

import datetime
import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from analytics.evaluation.answers.configured import is_configured
from analytics.models import SampledAnswer
from analytics.quality.judging import Verdict, model_can_judge
from analytics.quality.sampling import REVIEWERS
from analytics.quality.statistics import LEAST_EARLIER, Night
from chat.models import Assistant

GOOD = frozenset({Verdict.RIGHT, Verdict.RIGHTLY_ABSTAINED})
BAD_ANSWER = frozenset({Verdict.WRONG, Verdict.SHOULD_ABSTAIN})


@dataclass(frozen=True, slots=True)
class Judged:
    """A sampled answer with the verdicts of its judges; where they disagree, the worse one counts.

    `of_model` is the judging model's verdict, and empty without one. It counts among the `verdicts` only where a model
    is the judge.
    """

    day: datetime.date
    evidence: float | None
    threshold: float
    is_shown: bool
    is_newcomer: bool
    verdicts: tuple[str, ...]
    of_model: str

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


@dataclass(frozen=True, slots=True)
class Sample:
    """The answers of the nights of which staff judged all, and of those of which the judging model did; oldest first.

    A night of which some are judged would be no random sample: what is hard to judge waits longest.
    """

    staff: list[Judged]
    model: list[Judged]

    @property
    def is_watched_by_model(self) -> bool:
        """Return whether a drop is told from the model's nights: those are complete the next morning.

        Until it has judged as many answers as are compared with, staff's nights are watched on.
        """
        return is_configured() and len(self.model) >= LEAST_EARLIER

    @property
    def watched(self) -> list[Judged]:
        return self.model if self.is_watched_by_model else self.staff


def read_sample(assistant: Assistant) -> Sample:
    """Return what is judged of an assistant's answers: two queries.

    What nobody of that kind can judge any more is left out: for staff an answer whose conversation is gone, for the
    model that or one that it never could judge.
    """
    rows = SampledAnswer.objects.filter(assistant=assistant).annotate(can_judge=model_can_judge())
    sample = Sample([], [])
    ordered = rows.prefetch_related("verdicts").order_by("day", "pk")
    for _day, night in itertools.groupby(ordered, key=lambda row: row.day):
        by_staff, by_model, staff_wait, model_waits = [], [], False, False
        for row in night:
            verdicts = tuple(each.verdict for each in row.verdicts.all())
            if len(verdicts) >= REVIEWERS:
                by_staff.append(_judged(row, verdicts))
            else:
                staff_wait |= row.message_id is not None
            if row.model_verdict:
                by_model.append(_judged(row, (row.model_verdict,)))
            else:
                model_waits |= bool(row.can_judge)
        sample.staff.extend([] if staff_wait else by_staff)
        sample.model.extend([] if model_waits else by_model)
    return sample


def read_judged(assistant: Assistant) -> list[Judged]:
    """Return what two of staff judged; a promise rests on these alone."""
    return read_sample(assistant).staff


def _judged(row: SampledAnswer, verdicts: tuple[str, ...]) -> Judged:
    return Judged(
        row.day, row.evidence, row.threshold, row.is_shown, row.is_newcomer, verdicts, of_model=row.model_verdict
    )


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


def pairs_with_model(judged: Sequence[Judged]) -> list[tuple[bool, bool]]:
    """Return whether staff found right what the model judged too, and whether the model did.

    Right or not: “should not have answered” is no verdict of the model's.
    """
    return [(each.is_right, each.of_model in GOOD) for each in judged if each.of_model]
