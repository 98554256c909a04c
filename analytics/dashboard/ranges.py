"""Periods that have names, and the step that suits a period; pure."""

import datetime
from enum import StrEnum

from analytics.dashboard.periods import Period, Step

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


def period_of(name: Range, *, today: datetime.date, first_day: datetime.date | None) -> Period:
    """Ends today, or when the semester before this one did; `first_day` is when counting began."""
    if name in DAYS:
        return Period(today - datetime.timedelta(days=DAYS[name] - 1), today)
    semester = semester_of(today)
    if name == Range.SEMESTER:
        return Period(semester.first, today)
    if name == Range.LAST_SEMESTER:
        return semester_of(semester.first - datetime.timedelta(days=1))
    if name == Range.YEAR:
        return Period(datetime.date(today.year, 1, 1), today)
    oldest = today - datetime.timedelta(days=MOST_DAYS - 1)
    return Period(min(today, max(oldest, first_day or today)), today)


def semester_of(day: datetime.date) -> Period:
    """Germany's: April to September, October to March."""
    if 4 <= day.month <= 9:
        return Period(datetime.date(day.year, 4, 1), datetime.date(day.year, 9, 30))
    began = day.year if day.month >= 10 else day.year - 1
    return Period(datetime.date(began, 10, 1), datetime.date(began + 1, 3, 31))


def step_for(period: Period) -> Step:
    """So that a chart has between a handful of points and about a hundred."""
    if period.days <= 92:
        return Step.DAY
    return Step.WEEK if period.days <= 731 else Step.MONTH
