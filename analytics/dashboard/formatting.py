"""Figures as people read them: numbers, times, changes, names of steps; pure but for the language of the page."""

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from django.utils.formats import date_format, get_format, number_format
from django.utils.translation import get_language, gettext, pgettext

from analytics.periods import Period, Step

#: What stands where there is nothing to tell.
NOTHING = "–"
MINUS = "−"
SPACE = "\N{NO-BREAK SPACE}"


class Tone(StrEnum):
    """The tone of a change: better, worse or neither."""

    BETTER = "better"
    WORSE = "worse"
    PLAIN = "plain"


@dataclass(frozen=True, slots=True)
class Change:
    """`text` such as “+12 %”, `before` the value that it is compared with, in words; empty where there is none."""

    text: str
    before: str
    tone: Tone = Tone.PLAIN


def whole(number: float) -> str:
    """Format a whole number. `number_format` takes ten times as long, and a year's tables have thousands of figures."""
    return f"{round(number):,}".replace(",", get_format("THOUSAND_SEPARATOR"))


def decimal(number: float, places: int = 1) -> str:
    return number_format(round(number, places), decimal_pos=places, use_l10n=True, force_grouping=True)


def percent(share: float) -> str:
    """Format a share from 0 to 1."""
    return f"{whole(share * 100)}{SPACE}%"


def duration(milliseconds: float | None) -> str:
    if milliseconds is None:
        return NOTHING
    if milliseconds < 1_000:
        return f"{whole(milliseconds)}{SPACE}ms"
    return f"{decimal(milliseconds / 1_000)}{SPACE}s"


def waiting_time(waited: datetime.timedelta | None) -> str:
    """Format how long somebody waited, in minutes, hours or days."""
    if waited is None:
        return NOTHING
    minutes = waited.total_seconds() / 60
    if minutes < 60:
        return gettext("%(count)s min") % {"count": whole(minutes)}
    if minutes < 48 * 60:
        return gettext("%(count)s h") % {"count": decimal(minutes / 60)}
    return gettext("%(count)s days") % {"count": decimal(minutes / 60 / 24)}


def working_time(minutes: float | None) -> str:
    """Format minutes of work, in minutes or hours."""
    if minutes is None:
        return NOTHING
    if minutes < 90:
        return gettext("%(count)s min") % {"count": whole(minutes)}
    return gettext("%(count)s h") % {"count": whole(minutes / 60)}


def money(amount: float, currency: str) -> str:
    """Format an amount; small ones with more places, since a conversation may cost less than a cent."""
    return f"{decimal(amount, 2 if amount >= 1 else 4)} {currency}"


def change(now: float | None, before: float | None, said: str, *, wanted: int = 0) -> Change:
    """Format the change from `before`; `said` is that value in words.

    `wanted` is 1 if more is better, -1 if less is, else 0.
    """
    if before is None:
        return Change(NOTHING, "")
    if now is None or not before:
        return Change(NOTHING, said)
    share = (now - before) / before
    points = round(share * 100)
    if not points:
        return Change(f"±0{SPACE}%", said)
    sign = "+" if points > 0 else MINUS
    tone = Tone.PLAIN if not wanted else Tone.BETTER if wanted * points > 0 else Tone.WORSE
    return Change(f"{sign}{whole(abs(points))}{SPACE}%", said, tone)


def suppressed_text() -> str:
    """Return what stands for a suppressed figure."""
    return gettext("not shown")


def count_text(value: int | None) -> str:
    return suppressed_text() if value is None else whole(value)


def day_name(day: datetime.date) -> str:
    return date_format(day, "DATE_FORMAT")


def period_name(period: Period) -> str:
    if period.days == 1:
        return day_name(period.first)
    return f"{day_name(period.first)} – {day_name(period.last)}"


def short_name(start: datetime.date, step: Step) -> str:
    """Name a step on an axis."""
    return _short_name(start, step, get_language())


def long_name(start: datetime.date, step: Step) -> str:
    """Name a step in a table."""
    return _long_name(start, step, get_language())


# Every chart over time names its steps, on every page the same ones.
@lru_cache(maxsize=2_000)
def _short_name(start: datetime.date, step: Step, _language: str | None) -> str:
    if step == Step.MONTH:
        return date_format(start, "M Y")
    return date_format(start, pgettext("day and month on an axis, in Django’s date format", "j M"))


@lru_cache(maxsize=2_000)
def _long_name(start: datetime.date, step: Step, _language: str | None) -> str:
    if step == Step.MONTH:
        return date_format(start, "YEAR_MONTH_FORMAT")
    if step == Step.WEEK:
        return gettext("week from %(day)s") % {"day": day_name(start)}
    return f"{date_format(start, 'D')}, {day_name(start)}"


def hour_name(hour: int) -> str:
    return f"{hour:02}:00"


def highest(values: Sequence[int | None]) -> int | None:
    """Return the index of the highest value, or None if no value is above 0."""
    ranked = [(value, -place) for place, value in enumerate(values) if value]
    return -max(ranked)[1] if ranked else None
