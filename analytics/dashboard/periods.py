"""Periods of whole local days, cut into days, weeks or months; pure."""

import datetime
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

ONE_DAY = datetime.timedelta(days=1)


class Step(StrEnum):
    DAY = "day"
    WEEK = "week"
    MONTH = "month"


@dataclass(frozen=True, slots=True)
class Period:
    """From the first day to the last one, both included."""

    first: datetime.date
    last: datetime.date

    def __post_init__(self) -> None:
        """Raises ValueError."""
        if self.last < self.first:
            raise ValueError("A period ends no earlier than it begins.")

    @property
    def days(self) -> int:
        return (self.last - self.first).days + 1

    @property
    def before(self) -> "Period":
        """As many days, right before."""
        return Period(self.first - datetime.timedelta(days=self.days), self.first - ONE_DAY)

    def steps(self, step: Step) -> Iterator[datetime.date]:
        """Where its days, weeks (from Monday) or months begin; the first may lie before it."""
        at = start_of(self.first, step)
        while at <= self.last:
            yield at
            at = next_start(at, step)

    def is_whole(self, start: datetime.date, step: Step) -> bool:
        """Whether all of the step that begins there lies in it."""
        return start >= self.first and next_start(start, step) - ONE_DAY <= self.last

    @property
    def months(self) -> "Period | None":
        """Its whole months, None where it has none."""
        first = self.first if self.first.day == 1 else next_start(start_of(self.first, Step.MONTH), Step.MONTH)
        last = start_of(self.last + ONE_DAY, Step.MONTH) - ONE_DAY
        return Period(first, last) if last >= first else None


def start_of(day: datetime.date, step: Step) -> datetime.date:
    if step == Step.WEEK:
        return day - datetime.timedelta(days=day.weekday())
    return day.replace(day=1) if step == Step.MONTH else day


def next_start(start: datetime.date, step: Step) -> datetime.date:
    if step == Step.MONTH:
        return (start + datetime.timedelta(days=31)).replace(day=1)
    return start + datetime.timedelta(days=7 if step == Step.WEEK else 1)
