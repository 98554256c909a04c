"""A report in words, for who chooses among several and for the audit log."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.utils.formats import date_format
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from analytics.models import Review
from analytics.reports.cells import heading
from analytics.reports.definition import NO_VERDICT, Definition, Format, Span, Thumbs
from chat.models import Assistant, Message, Site
from chat.models.assistants import Language
from knowledge.staff_scope import Staff

FORMATS: Mapping[Format, str | Promise] = {
    Format.XLSX: gettext_lazy("Excel (.xlsx)"),
    Format.CSV: gettext_lazy("CSV (.csv)"),
    Format.JSONL: gettext_lazy("JSON Lines (.jsonl), for programs"),
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
    """Of assistants and sites by id, as far as somebody may know them."""

    assistants: Mapping[int, str]
    sites: Mapping[int, str]


def names_for(user: Staff) -> Names:
    return Names(
        dict(Assistant.objects.for_staff(user).values_list("pk", "name")),
        dict(Site.objects.for_staff(user).values_list("pk", "name")),
    )


def in_words(definition: Definition, names: Names) -> str:
    """Such as “the last 30 days · Lindi · abstained”."""
    return " · ".join(_parts(definition, names))


def columns_in_words(columns: Sequence[str]) -> str:
    return ", ".join(map(heading, columns))


def _parts(definition: Definition, names: Names) -> list[str]:
    parts = [_span(definition)]
    if definition.assistants:
        other = _("an assistant of others")
        parts.append(", ".join(names.assistants.get(pk, other) for pk in definition.assistants))
    if definition.site is not None:
        parts.append(names.sites.get(definition.site, _("a site of others")))
    if definition.language:
        parts.append(str(Language(definition.language).label))
    if definition.statuses:
        parts.append(", ".join(str(Message.Status(status).label) for status in definition.statuses))
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
