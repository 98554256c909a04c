"""The filters of the list of gaps."""

from collections.abc import Iterator
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from analytics.models import Gap

State = Gap.State
TO_DO = (State.OPEN, State.IN_WORK)


class StateFilter(admin.SimpleListFilter):
    """Show open gaps and those in work unless another state is chosen."""

    title = gettext_lazy("state")
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [*State.choices, ("all", gettext_lazy("all"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() in State.values:
            return queryset.filter(state=self.value())
        return queryset if self.value() == "all" else queryset.filter(state__in=TO_DO)

    def choices(self, changelist: Any) -> Iterator[Any]:
        yield {
            "selected": self.value() is None,
            "query_string": changelist.get_query_string(remove=[self.parameter_name]),
            "display": _("Not done yet"),
        }
        for value, title in self.lookup_choices:
            yield {
                "selected": self.value() == value,
                "query_string": changelist.get_query_string({self.parameter_name: value}),
                "display": title,
            }


class AnsweredFilter(admin.SimpleListFilter):
    title = gettext_lazy("answered since")
    parameter_name = "answered"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("yes", gettext_lazy("yes")), ("no", gettext_lazy("no"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() not in {"yes", "no"}:
            return queryset
        return queryset.filter(answered_since__isnull=self.value() == "no")
