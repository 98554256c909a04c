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
        """Raise ValueError if the period ends before it begins."""
        if self.last < self.first:
            raise ValueError("A period ends no earlier than it begins.")

    @property
    def days(self) -> int:
        return (self.last - self.first).days + 1

    @property
    def before(self) -> "Period":
        """Return the period of as many days right before."""
        return Period(self.first - datetime.timedelta(days=self.days), self.first - ONE_DAY)

    @property
    def year_before(self) -> "Period":
        """Return the same days of the year before; of 29 February the day before."""
        return Period(_year_before(self.first), _year_before(self.last))

    def steps(self, step: Step) -> Iterator[datetime.date]:
        """Return where its days, weeks (from Monday) or months begin; the first may begin before the period."""
        at = step_start(self.first, step)
        while at <= self.last:
            yield at
            at = next_start(at, step)

    def is_whole(self, start: datetime.date, step: Step) -> bool:
        """Return whether the period holds all of the step that begins there."""
        return start >= self.first and next_start(start, step) - ONE_DAY <= self.last

    def months(self, today: datetime.date) -> "Period | None":
        """Return its whole months, or None if it has none; up to today, the month of today is one."""
        first = self.first if self.first.day == 1 else next_start(step_start(self.first, Step.MONTH), Step.MONTH)
        end = self.last + ONE_DAY
        if self.last >= today:
            end = max(end, next_start(today.replace(day=1), Step.MONTH))
        last = step_start(end, Step.MONTH) - ONE_DAY
        return Period(first, last) if last >= first else None


def _year_before(day: datetime.date) -> datetime.date:
    is_leap_day = (day.month, day.day) == (2, 29)
    return day.replace(year=day.year - 1, day=28 if is_leap_day else day.day)


def step_start(day: datetime.date, step: Step) -> datetime.date:
    if step == Step.WEEK:
        return day - datetime.timedelta(days=day.weekday())
    return day.replace(day=1) if step == Step.MONTH else day


def next_start(start: datetime.date, step: Step) -> datetime.date:
    if step == Step.MONTH:
        return (start + datetime.timedelta(days=31)).replace(day=1)
    return start + datetime.timedelta(days=7 if step == Step.WEEK else 1)


#: Nobody's figures are older, and no page gets longer than ten years in weeks.
EARLIEST = datetime.date(2000, 1, 1)
MOST_DAYS = 3_653
#: The longest period that is shown by this step.
LONGEST = {Step.DAY: 366, Step.WEEK: 5 * 366, Step.MONTH: MOST_DAYS}


class Range(StrEnum):
    TODAY = "today"
    WEEK = "7"
    MONTH = "30"
    QUARTER = "90"
    SEMESTER = "semester"
    LAST_SEMESTER = "last-semester"
    YEAR = "year"
    ALL = "all"


DAYS = {Range.TODAY: 1, Range.WEEK: 7, Range.MONTH: 30, Range.QUARTER: 90}


def period_for(name: Range, *, today: datetime.date, first_day: datetime.date | None) -> Period:
    """Return the period that ends today, or with the last semester; `first_day` is when counting began."""
    if name in DAYS:
        return Period(today - datetime.timedelta(days=DAYS[name] - 1), today)
    semester = semester_around(today)
    if name == Range.SEMESTER:
        return Period(semester.first, today)
    if name == Range.LAST_SEMESTER:
        return semester_around(semester.first - datetime.timedelta(days=1))
    if name == Range.YEAR:
        return Period(datetime.date(today.year, 1, 1), today)
    oldest = today - datetime.timedelta(days=MOST_DAYS - 1)
    return Period(min(today, max(oldest, first_day or today)), today)


def semester_around(day: datetime.date) -> Period:
    """Return the German semester: April to September, or October to March."""
    if 4 <= day.month <= 9:
        return Period(datetime.date(day.year, 4, 1), datetime.date(day.year, 9, 30))
    began = day.year if day.month >= 10 else day.year - 1
    return Period(datetime.date(began, 10, 1), datetime.date(began + 1, 3, 31))


def step_for(period: Period) -> Step:
    """Return the step that gives a chart between a handful of points and about a hundred."""
    if period.days <= 92:
        return Step.DAY
    return Step.WEEK if period.days <= 731 else Step.MONTH
