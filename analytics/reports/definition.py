"""What a report is asked for: which answers, which columns in which order, as what kind of file."""

import datetime
from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from typing import Any, Self

from django.utils import timezone

from analytics.dashboard.periods import ONE_DAY, Period


class Format(StrEnum):
    XLSX = "xlsx"
    CSV = "csv"
    JSONL = "jsonl"


class Span(StrEnum):
    """Whole local days; those that move with time end today."""

    LAST_7 = "last_7"
    LAST_30 = "last_30"
    LAST_90 = "last_90"
    LAST_365 = "last_365"
    LAST_MONTH = "last_month"
    FIXED = "fixed"


DAYS = {Span.LAST_7: 7, Span.LAST_30: 30, Span.LAST_90: 90, Span.LAST_365: 365}


class Thumbs(StrEnum):
    UP = "up"
    DOWN = "down"
    NONE = "none"


#: As a verdict to choose: nobody has given one.
NO_VERDICT = "none"


@dataclass(frozen=True, slots=True)
class Definition:
    """Empty filters choose everything. `columns` are keys of `analytics.reports.columns.COLUMNS`, in the file's order;
    `first` and `last` are the days of a fixed span, both included. `assistants` and `site` are ids."""

    columns: tuple[str, ...]
    format: Format = Format.XLSX
    span: Span = Span.LAST_30
    first: datetime.date | None = None
    last: datetime.date | None = None
    assistants: tuple[int, ...] = ()
    site: int | None = None
    language: str = ""
    statuses: tuple[str, ...] = ()
    thumbs: str = ""
    verdict: str = ""

    def dump(self) -> dict[str, Any]:
        days = {name: day.isoformat() if (day := getattr(self, name)) else None for name in ("first", "last")}
        return {**asdict(self), **days}

    @classmethod
    def load(cls, stored: dict[str, Any]) -> Self:
        """What `dump` gave."""
        given = {each.name: stored[each.name] for each in fields(cls)}
        for name in ("columns", "assistants", "statuses"):
            given[name] = tuple(given[name])
        for name in ("first", "last"):
            given[name] = datetime.date.fromisoformat(given[name]) if given[name] else None
        given["format"], given["span"] = Format(given["format"]), Span(given["span"])
        return cls(**given)

    def period(self) -> Period:
        """The days that it means today."""
        if self.first and self.last:
            return Period(self.first, self.last)
        today = timezone.localdate()
        if self.span == Span.LAST_MONTH:
            end = today.replace(day=1) - ONE_DAY
            return Period(end.replace(day=1), end)
        return Period(today - datetime.timedelta(days=DAYS[self.span] - 1), today)
