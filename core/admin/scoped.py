"""A screen that shows each member of staff the rows of their own teams, and offers no others."""

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.auth.models import Group
from django.db.models import Q, QuerySet
from django.forms import CheckboxSelectMultiple
from django.http import HttpRequest

from core.access import StaffScoped, sees_everything

if TYPE_CHECKING:
    AnyModelAdmin = admin.ModelAdmin[Any]
else:
    AnyModelAdmin = object


def visible_options(db_field: Any, request: HttpRequest, options: dict[str, Any]) -> dict[str, Any]:
    """Return a field's options: the given rows or all, without other teams'."""
    choices = options.get("queryset")
    if choices is None:
        choices = db_field.remote_field.model._default_manager.all()
    if not isinstance(choices, StaffScoped):
        return options
    return {**options, "queryset": choices.visible_to(request.user)}


class ScopedChoices(AnyModelAdmin):
    """For inlines and screens whose fields lead to rows of teams."""

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        return super().formfield_for_foreignkey(db_field, request, **visible_options(db_field, request, kwargs))

    def formfield_for_manytomany(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        return super().formfield_for_manytomany(db_field, request, **visible_options(db_field, request, kwargs))


class ScopedAdmin(ScopedChoices):
    """To be named before ModelAdmin; the model's default queryset is a StaffScoped."""

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows: Any = super().get_queryset(request)
        scoped: QuerySet[Any] = rows.visible_to(request.user)
        return scoped


def visible_teams(related_name: str) -> dict[str, Any]:
    """Return the options of a field of teams, one tick a team; `related_name` leads from a team to the rows."""
    # Roles are groups too, and carry permissions; what was made a team all the same stays on the form.
    is_team = Q(permissions=None) | Q(**{f"{related_name}__isnull": False})
    return {"queryset": Group.objects.filter(is_team).distinct().order_by("name"), "widget": CheckboxSelectMultiple}


class TeamsAdmin(ScopedAdmin):
    """For what has teams itself: only who sees everything makes one, or says which teams look after it."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return super().has_add_permission(request) and sees_everything(request.user)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        fields = super().get_readonly_fields(request, obj)
        return fields if sees_everything(request.user) else [*fields, "teams"]

    def formfield_for_manytomany(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name == "teams":
            kwargs |= visible_teams(db_field.remote_field.name)
        return super().formfield_for_manytomany(db_field, request, **kwargs)


class ScopedFilter(admin.RelatedFieldListFilter):
    """Names the rows of one's own teams alone."""

    def field_choices(self, field: Any, request: HttpRequest, model_admin: Any) -> Any:
        rows = field.remote_field.model._default_manager.visible_to(request.user)
        return [(row.pk, str(row)) for row in rows]
