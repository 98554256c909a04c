"""By what the list of gaps is narrowed."""

from collections.abc import Iterator
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from analytics.models import Gap

State = Gap.State
TO_DO = (State.OPEN, State.IN_WORK)


class StateFilter(admin.SimpleListFilter):
    """What is left to do, unless something else is asked for."""

    title = _("state")
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [*State.choices, ("all", _("all"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() in State.values:
            return queryset.filter(state=self.value())
        return queryset if self.value() == "all" else queryset.filter(state__in=TO_DO)

    def choices(self, changelist: Any) -> Iterator[Any]:
        yield {
            "selected": self.value() is None,
            "query_string": changelist.get_query_string(remove=[self.parameter_name]),
            "display": gettext("to do"),
        }
        for value, title in self.lookup_choices:
            yield {
                "selected": self.value() == value,
                "query_string": changelist.get_query_string({self.parameter_name: value}),
                "display": title,
            }


class AnsweredFilter(admin.SimpleListFilter):
    title = _("answered since")
    parameter_name = "answered"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("yes", _("yes")), ("no", _("no"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() not in {"yes", "no"}:
            return queryset
        return queryset.filter(answered_since__isnull=self.value() == "no")
