"""A screen that shows each member of staff the rows of their own teams, and offers no others."""

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from knowledge.staff_scope import StaffScoped

if TYPE_CHECKING:
    AnyModelAdmin = admin.ModelAdmin[Any]
else:
    AnyModelAdmin = object


def own_choices(db_field: Any, request: HttpRequest, given: Any) -> Any:
    """The rows a field may name: those given, or all, less other teams'; None where its model knows no teams."""
    choices = given if given is not None else db_field.remote_field.model._default_manager.all()
    return choices.for_staff(request.user) if isinstance(choices, StaffScoped) else given


class OffersOwn(AnyModelAdmin):
    """For inlines and screens whose fields lead to rows of teams."""

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        kwargs["queryset"] = own_choices(db_field, request, kwargs.get("queryset"))
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def formfield_for_manytomany(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        kwargs["queryset"] = own_choices(db_field, request, kwargs.get("queryset"))
        return super().formfield_for_manytomany(db_field, request, **kwargs)


class ScopedAdmin(OffersOwn):
    """To be named before ModelAdmin; the model's default queryset is a StaffScoped."""

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows: Any = super().get_queryset(request)
        scoped: QuerySet[Any] = rows.for_staff(request.user)
        return scoped
