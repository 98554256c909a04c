"""The definition of a report: which answers, which columns in which order, which file format."""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from enum import StrEnum
from typing import Any, Self

from django.db.models import Value
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from analytics.counts.outcomes import OUTCOMES
from analytics.models import Review
from analytics.periods import ONE_DAY, Period
from analytics.reports.columns import heading
from chat.models import Assistant, Message, Site
from chat.models.assistants import Language
from core.access import Staff


class Format(StrEnum):
    XLSX = "xlsx"
    CSV = "csv"
    JSONL = "jsonl"
    PARQUET = "parquet"


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


#: The fields of a definition that hold several values.
TUPLES = frozenset({"columns", "assistants", "statuses", "topics", "outcomes"})
#: As a verdict to choose: nobody has given one.
NO_VERDICT = "none"


@dataclass(frozen=True, slots=True)
class Definition:
    """Empty filters choose everything. `columns` are keys of `analytics.reports.columns.COLUMNS`, in the file's order;
    `first` and `last` are the days of a fixed span, both included. `assistants`, `site` and `topics` are ids."""

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
    topics: tuple[int, ...] = ()
    outcomes: tuple[str, ...] = ()

    def dump(self) -> dict[str, Any]:
        days = {name: day.isoformat() if (day := getattr(self, name)) else None for name in ("first", "last")}
        return {**asdict(self), **days}

    @classmethod
    def load(cls, stored: dict[str, Any]) -> Self:
        """Load what `dump` returned, also before there were all of its filters."""
        given = {each.name: stored[each.name] for each in fields(cls) if each.name in stored}
        for name in TUPLES & given.keys():
            given[name] = tuple(given[name])
        for name in ("first", "last"):
            given[name] = datetime.date.fromisoformat(given[name]) if given[name] else None
        given["format"], given["span"] = Format(given["format"]), Span(given["span"])
        return cls(**given)

    def period(self, today: datetime.date | None = None) -> Period:
        """Return the days that the definition means today, or on another day."""
        if self.first and self.last:
            return Period(self.first, self.last)
        today = today or timezone.localdate()
        if self.span == Span.LAST_MONTH:
            end = today.replace(day=1) - ONE_DAY
            return Period(end.replace(day=1), end)
        return Period(today - datetime.timedelta(days=DAYS[self.span] - 1), today)


FORMATS: Mapping[Format, str | Promise] = {
    Format.XLSX: gettext_lazy("Excel (.xlsx)"),
    Format.CSV: gettext_lazy("CSV (.csv)"),
    Format.JSONL: gettext_lazy("JSON Lines (.jsonl), for programs"),
    Format.PARQUET: gettext_lazy("Parquet (.parquet), for programs"),
}
SPANS: Mapping[Span, str | Promise] = {
    Span.LAST_7: gettext_lazy("the last 7 days"),
    Span.LAST_30: gettext_lazy("the last 30 days"),
    Span.LAST_90: gettext_lazy("the last 90 days"),
    Span.LAST_365: gettext_lazy("the last 365 days"),
    Span.LAST_MONTH: gettext_lazy("last month"),
    Span.FIXED: gettext_lazy("these days"),
}
THUMBS: Mapping[Thumbs, str | Promise] = {
    Thumbs.UP: gettext_lazy("thumbs up"),
    Thumbs.DOWN: gettext_lazy("thumbs down"),
    Thumbs.NONE: gettext_lazy("not rated"),
}


@dataclass(frozen=True, slots=True)
class Names:
    """Names of the assistants, sites and topics that somebody may see, by id."""

    assistants: Mapping[int, str]
    sites: Mapping[int, str]
    topics: Mapping[int, str] = field(default_factory=dict)


def names_for(user: Staff, topics: Mapping[int, str] | None = None) -> Names:
    """Return the names; without those of topics, where these stand as numbers: a name may be a student's question."""
    names: dict[str, dict[int, str]] = {"assistant": {}, "site": {}}
    assistants = Assistant.objects.visible_to(user).order_by().values_list("pk", "name", Value("assistant"))
    sites = Site.objects.visible_to(user).order_by().values_list("pk", "name", Value("site"))
    for pk, name, kind in assistants.union(sites, all=True):
        names[kind][pk] = name
    return Names(names["assistant"], names["site"], topics or {})


def in_words(definition: Definition, names: Names) -> str:
    """Describe the definition, such as “the last 30 days · Lindi · abstained”."""
    return " · ".join(_parts(definition, names))


def columns_in_words(columns: Sequence[str]) -> str:
    return ", ".join(map(heading, columns))


def _parts(definition: Definition, names: Names) -> list[str]:
    parts = [_span(definition)]
    if definition.assistants:
        other = _("an assistant of others")
        parts.append(", ".join(names.assistants.get(pk, other) for pk in definition.assistants))
    if definition.site is not None:
        parts.append(names.sites.get(definition.site, _("a page with the chat of others")))
    if definition.language:
        parts.append(str(Language(definition.language).label))
    if definition.statuses:
        parts.append(", ".join(str(Message.Status(status).label) for status in definition.statuses))
    if definition.outcomes:
        parts.append(", ".join(str(OUTCOMES[outcome]) for outcome in definition.outcomes))
    if definition.topics:
        numbered = _("topic %(number)s")
        parts.append(", ".join(names.topics.get(pk, numbered % {"number": f"#{pk}"}) for pk in definition.topics))
    if definition.thumbs:
        parts.append(str(THUMBS[Thumbs(definition.thumbs)]))
    if definition.verdict == NO_VERDICT:
        parts.append(_("no verdict yet"))
    elif definition.verdict:
        parts.append(str(Review.Verdict(definition.verdict).label))
    return parts


def _span(definition: Definition) -> str:
    if definition.first and definition.last:
        days = (date_format(day, "SHORT_DATE_FORMAT") for day in (definition.first, definition.last))
        return " – ".join(days)
    return str(SPANS[definition.span])
