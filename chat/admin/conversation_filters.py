"""Conversations behind a figure: those with a message to which everything chosen applies at once."""

import datetime
from collections.abc import Callable, Mapping
from typing import Any

from django.contrib import admin
from django.contrib.admin.options import IncorrectLookupParameters
from django.db.models import Exists, F, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import ExtractHour
from django.http import HttpRequest
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.text import Truncator
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from chat.models import Feedback, Message, Site
from chat.models.assistants import Language
from faqs.models import FAQ
from knowledge.models import Document

#: Between two days of a period in the address.
TO = ".."
THUMBS = {"up": 1, "down": -1}
LAST_DAYS = {0: _("Today"), 6: _("Past 7 days"), 29: _("Past 30 days")}


def period_text(first: datetime.date, last: datetime.date) -> str:
    return f"{first.isoformat()}{TO}{last.isoformat()}"


def moments(text: str) -> tuple[datetime.datetime, datetime.datetime]:
    """Return the start of the first local day of `2026-03-01..2026-03-31`, and of the day after the last one.

    Raises ValueError.
    """
    first, _to, last = text.partition(TO)
    days = datetime.date.fromisoformat(first), datetime.date.fromisoformat(last)
    if days[0] > days[1] or not all(1970 <= day.year <= 9000 for day in days):
        raise ValueError(text)
    zone = timezone.get_default_timezone()
    after = days[1] + datetime.timedelta(days=1)
    begins, ends = (datetime.datetime.combine(day, datetime.time(), zone) for day in (days[0], after))
    return begins, ends


def id_in(text: str) -> int:
    """Check the value; raise ValueError."""
    if not text.isdecimal() or len(text) > 18:
        raise ValueError(text)
    return int(text)


def misread_in(chosen: Mapping[str, str]) -> dict[str, str]:
    """Return what of an address these filters do not accept, and why."""
    wrong = {}
    for name in ("asked", "begun"):
        if (text := chosen.get(name)) and not _is_read(moments, text):
            first, _to, last = text.partition(TO)
            is_turned = _is_read(moments, f"{last}{TO}{first}")
            wrong[name] = gettext("The last day is before the first one.") if is_turned else no_choice(text)
    for name in ("faq", "document", "site", "hour"):
        if (text := chosen.get(name)) and not _is_read(id_in, text):
            wrong[name] = no_choice(text)
    return wrong


def _is_read(read: Callable[[str], object], text: str) -> bool:
    try:
        read(text)
    except ValueError:
        return False
    return True


def no_choice(text: str) -> str:
    return gettext("There is no such choice: %(value)s.") % {"value": Truncator(text).chars(40)}


def message_conditions(chosen: Mapping[str, str]) -> list[Q]:
    """Return what one message has to meet; raise ValueError."""
    found = []
    if text := chosen.get("asked"):
        begins, ends = moments(text)
        found.append(Q(created_at__gte=begins, created_at__lt=ends))
    if language := chosen.get("language"):
        found.append(Q(language=language))
    if reason := chosen.get("reason"):
        found.append(Q(feedback__value=-1, feedback__reasons__contains=[reason]))
    if faq := chosen.get("faq"):
        found.append(Q(faq=id_in(faq)))
    if document := chosen.get("document"):
        found.append(Q(citations__document=id_in(document)))
    if hour := chosen.get("hour"):
        found.append(Q(role=Message.Role.USER, hour=id_in(hour)))
    if chosen.get("answer") in Message.Status.values:
        found.append(Q(role=Message.Role.ASSISTANT, status=chosen["answer"]))
    if thumbs := THUMBS.get(chosen.get("feedback", "")):
        found.append(Q(feedback__value=thumbs))
    return found


def behind(conversations: QuerySet[Any], chosen: Mapping[str, str]) -> QuerySet[Any]:
    """Those behind the figure that these choices describe; raises ValueError."""
    if text := chosen.get("begun"):
        begins, ends = moments(text)
        conversations = conversations.filter(created_at__gte=begins, created_at__lt=ends)
        if language := chosen.get("language"):
            first = Message.objects.filter(conversation=OuterRef("pk")).order_by("pk").values("language")[:1]
            conversations = conversations.annotate(spoken=Subquery(first)).filter(spoken=language)
    elif conditions := message_conditions(chosen):
        messages = Message.objects.filter(conversation=OuterRef("pk"))
        if chosen.get("hour"):
            zone = timezone.get_default_timezone()
            messages = messages.annotate(hour=ExtractHour(F("created_at"), tzinfo=zone))
        for condition in conditions:
            messages = messages.filter(condition)
        conversations = conversations.filter(Exists(messages))
    if site := chosen.get("site"):
        conversations = conversations.filter(site=id_in(site))
    if chosen.get("rated"):
        conversations = conversations.filter(stars__isnull=False)
    return conversations


class AskedFilter(admin.SimpleListFilter):
    """Filters by the time of a message; it applies the other filters of this module too, so that all hold for one."""

    title = _("asked")
    parameter_name = "asked"

    def __init__(self, request: HttpRequest, params: Any, model: Any, model_admin: Any) -> None:
        self.chosen = {name: request.GET.get(name, "") for name in request.GET}
        super().__init__(request, params, model, model_admin)

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        today = timezone.localdate()
        named: list[tuple[str, Any]] = [
            (period_text(today - datetime.timedelta(days=days), today), name) for days, name in LAST_DAYS.items()
        ]
        value = self.value()
        if value and value not in dict(named):
            named.append((value, period_name(value)))
        return named

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        try:
            return behind(queryset, self.chosen)
        except ValueError as error:
            raise IncorrectLookupParameters from error


def period_name(text: str) -> str:
    """Its two days as people write them; raises IncorrectLookupParameters."""
    try:
        begins, ends = moments(text)
    except ValueError as error:
        raise IncorrectLookupParameters from error
    days = (begins.date(), ends.date() - datetime.timedelta(days=1))
    return " – ".join(date_format(day, "DATE_FORMAT") for day in dict.fromkeys(days))


class ChosenFilter(admin.SimpleListFilter):
    """Is seen where the address chooses it, so that it can be taken back; AskedFilter applies it."""

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        value = request.GET.get(str(self.parameter_name), "")
        return [(value, self.describe_value(value, request))] if value else []

    def describe_value(self, value: str, request: HttpRequest) -> str:
        raise NotImplementedError

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset


class LanguageFilter(ChosenFilter):
    title = _("language")
    parameter_name = "language"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return list(Language.choices)


class SiteFilter(ChosenFilter):
    title = _("page with the chat")
    parameter_name = "site"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [(str(site.pk), site.name) for site in Site.objects.visible_to(request.user).order_by("name")]


class BegunFilter(ChosenFilter):
    title = _("begun")
    parameter_name = "begun"

    def describe_value(self, value: str, request: HttpRequest) -> str:
        return period_name(value)


class RatedFilter(ChosenFilter):
    title = _("stars")
    parameter_name = "rated"

    def describe_value(self, value: str, request: HttpRequest) -> str:
        return str(_("Rated with stars"))


class ReasonFilter(ChosenFilter):
    title = _("reason of a bad rating")
    parameter_name = "reason"

    def describe_value(self, value: str, request: HttpRequest) -> str:
        return str(Feedback.Reason(value).label) if value in Feedback.Reason.values else value


class HourFilter(ChosenFilter):
    title = _("hour of the day")
    parameter_name = "hour"

    def describe_value(self, value: str, request: HttpRequest) -> str:
        return f"{value}:00–{value}:59"


class RowFilter(ChosenFilter):
    """A row of a model, by its id."""

    model_of_rows: Any

    def describe_value(self, value: str, request: HttpRequest) -> str:
        try:
            row = self.model_of_rows.objects.visible_to(request.user).filter(pk=id_in(value)).first()
        except ValueError as error:
            raise IncorrectLookupParameters from error
        return str(row or value)


class FAQFilter(RowFilter):
    title = _("FAQ")
    parameter_name = "faq"
    model_of_rows = FAQ


class DocumentFilter(RowFilter):
    title = _("cited document")
    parameter_name = "document"
    model_of_rows = Document


FILTERS = (
    AskedFilter,
    LanguageFilter,
    SiteFilter,
    BegunFilter,
    RatedFilter,
    ReasonFilter,
    HourFilter,
    FAQFilter,
    DocumentFilter,
)
