"""What the review queue is narrowed by."""

from collections.abc import Iterator
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from analytics.models import Review

State = Review.State


class StateFilter(admin.SimpleListFilter):
    """What is left to do, unless something else is asked for."""

    title = _("state")
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [(State.DONE.value, State.DONE.label), ("all", _("all"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset if self.value() == "all" else queryset.filter(state=self.value() or State.OPEN)

    def choices(self, changelist: Any) -> Iterator[Any]:
        first, *others = super().choices(changelist)
        yield {**first, "display": gettext("to do")}
        yield from others


class ReasonFilter(admin.SimpleListFilter):
    title = _("reason")
    parameter_name = "reason"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [*Review.Reason.choices]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(reasons__contains=[self.value()]) if self.value() else queryset


class VerdictFilter(admin.SimpleListFilter):
    title = _("verdict")
    parameter_name = "verdict"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("none", _("none yet")), *Review.Verdict.choices]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        value = self.value()
        return queryset.filter(verdict="" if value == "none" else value) if value else queryset


class AssignedFilter(admin.SimpleListFilter):
    title = _("assigned to")
    parameter_name = "assigned"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("me", _("me")), ("nobody", _("nobody")), ("others", _("others"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        match self.value():
            case "me":
                return queryset.filter(assigned_to=request.user.pk)
            case "nobody":
                return queryset.filter(assigned_to=None)
            case "others":
                return queryset.exclude(assigned_to=None).exclude(assigned_to=request.user.pk)
        return queryset
