"""Pages about accounts of staff, their tokens, and the tasks that run by themselves."""

from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING, Any, cast

from django import forms
from django.contrib import admin
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.admin.widgets import AdminSplitDateTime
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.forms import AdminPasswordChangeForm, SetUnusablePasswordMixin
from django.contrib.auth.models import Group, User
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.text import capfirst
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django_celery_beat.admin import PeriodicTaskAdmin
from django_celery_beat.models import PeriodicTask

from core.db.tokens import hash_token
from marcelcms.accounts.permissions import NamesPermissions
from marcelcms.accounts.roles import role_title
from marcelcms.models import APIToken, DirectoryIdentity, new_token

if TYPE_CHECKING:
    TokenModelAdmin = admin.ModelAdmin[APIToken]
    TokenModelForm = forms.ModelForm[APIToken]
else:
    TokenModelAdmin, TokenModelForm = admin.ModelAdmin, forms.ModelForm


DAYS = [(30, _("30 days")), (90, _("90 days")), (365, _("one year"))]
MOST_EACH = 20


class TokenForm(TokenModelForm):
    days = forms.TypedChoiceField(label=_("Valid for"), choices=DAYS, coerce=int, initial=90)

    class Meta:
        model = APIToken
        fields = ("name",)

    def clean(self) -> dict[str, Any] | None:
        if APIToken.objects.filter(user=self.instance.user_id).count() >= MOST_EACH:
            said = _("You have %(most)d tokens already: delete one that you no longer need.")
            raise ValidationError(said, params={"most": MOST_EACH})
        return super().clean()


@admin.register(APIToken)
class APITokenAdmin(TokenModelAdmin):
    """Everybody has their own; who has the permissions sees, and ends, everybody's."""

    form = TokenForm
    list_display = ["name", "user", "state", "created_at", "expires_at", "last_used_at"]
    list_select_related = ["user"]
    list_per_page = 50
    show_full_result_count = False
    actions = None
    add_form_template = "admin/marcelcms/apitoken/add_form.html"
    change_list_template = "admin/marcelcms/apitoken/change_list.html"

    # --- who may ---

    def has_module_permission(self, request: HttpRequest) -> bool:
        return True

    def has_view_permission(self, request: HttpRequest, obj: APIToken | None = None) -> bool:
        return obj is None or obj.user_id == request.user.pk or super().has_view_permission(request, obj)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return True

    def has_change_permission(self, request: HttpRequest, obj: APIToken | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: APIToken | None = None) -> bool:
        return (obj is not None and obj.user_id == request.user.pk) or super().has_delete_permission(request, obj)

    def get_queryset(self, request: HttpRequest) -> QuerySet[APIToken]:
        tokens = super().get_queryset(request)
        return tokens if super().has_view_permission(request) else tokens.filter(user=request.user.pk)

    # --- what is shown ---

    def get_fieldsets(self, request: HttpRequest, obj: APIToken | None = None) -> Any:
        shown = (
            ["name", "days"] if obj is None else ["name", "user", "state", "created_at", "expires_at", "last_used_at"]
        )
        return [(None, {"fields": shown})]

    def get_readonly_fields(self, request: HttpRequest, obj: APIToken | None = None) -> Any:
        return [] if obj is None else ["name", "user", "state", "created_at", "expires_at", "last_used_at"]

    @admin.display(description=_("state"))
    def state(self, token: APIToken) -> str:
        context = {"token": token, "is_valid": token.expires_at > timezone.now() and token.user.is_active}
        return render_to_string("admin/marcelcms/apitoken/state.html", context)

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        return super().changelist_view(request, {"title": gettext("API tokens"), **(extra_context or {})})

    # --- what is done ---

    def get_form(self, request: HttpRequest, obj: APIToken | None = None, change: bool = False, **kwargs: Any) -> Any:
        form = super().get_form(request, obj, change=change, **kwargs)

        class OfUser(form):  # type: ignore[misc, valid-type]
            def __init__(self, *args: Any, **options: Any) -> None:
                super().__init__(*args, **options)
                if obj is None:
                    self.instance.user_id = request.user.pk

        return OfUser

    def save_model(self, request: HttpRequest, obj: APIToken, form: Any, change: bool) -> None:
        token = new_token()
        obj.digest = hash_token(token)
        obj.expires_at = timezone.now() + timedelta(days=form.cleaned_data["days"])
        super().save_model(request, obj, form, change)
        request.new_token = token  # type: ignore[attr-defined]

    def response_add(self, request: HttpRequest, obj: APIToken, post_url_continue: str | None = None) -> HttpResponse:
        """Show the token, this once."""
        context = {
            **self.admin_site.each_context(request),
            "title": gettext("Your new token"),
            "opts": self.opts,
            "row": obj,
            "token": request.new_token,  # type: ignore[attr-defined]
            "address": request.build_absolute_uri("/api/staff/v1/documents/"),
        }
        response = TemplateResponse(request, "admin/marcelcms/apitoken/made.html", context)
        response["Cache-Control"] = "no-store"
        return response


if TYPE_CHECKING:
    StaffUserAdmin = UserAdmin[User]
    TaskModelAdmin = admin.ModelAdmin[PeriodicTask]
    GroupChoices = forms.ModelMultipleChoiceField[Group]
    AnyPasswordForm = AdminPasswordChangeForm[User]
else:
    AnyPasswordForm = AdminPasswordChangeForm
    StaffUserAdmin, TaskModelAdmin = UserAdmin, PeriodicTaskAdmin
    GroupChoices = forms.ModelMultipleChoiceField


admin.site.unregister([User, PeriodicTask])


class PasswordForm(AnyPasswordForm):
    """Django's, which puts its hint together before it knows the reader's language."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if "usable_password" in self.fields:
            hint = SetUnusablePasswordMixin.usable_password_help_text
            lost = gettext("Once it is disabled, this password is lost.")
            warning = format_html(
                '<ul id="id_unusable_warning" class="messagelist"><li class="warning">{}</li></ul>', lost
            )
            self.fields["usable_password"].help_text = format_html("{} {}", hint, warning)


class GroupFilter(admin.RelatedFieldListFilter):
    """Calls roles by their titles."""

    def field_choices(self, field: Any, request: HttpRequest, model_admin: Any) -> Any:
        return [(pk, role_title(str(name))) for pk, name in super().field_choices(field, request, model_admin)]


class RolesAndTeams(GroupChoices):
    def label_from_instance(self, group: Group) -> str:
        return role_title(group.name)


@admin.register(User)
class StaffAdmin(NamesPermissions, StaffUserAdmin):
    """Nobody makes themselves, or somebody else, more than they are."""

    permissions_field = "user_permissions"
    change_password_form = PasswordForm

    list_display = ["username", "first_name", "last_name", "email", "is_active", "last_login", "belongs_to"]
    list_filter = ["is_active", ("groups", GroupFilter)]
    readonly_fields = ["last_login", "date_joined"]
    filter_horizontal = ["user_permissions"]
    fieldsets = [
        (None, {"fields": ["username", "password", "first_name", "last_name", "email"]}),
        (_("What they do"), {"fields": ["groups", "is_active", "is_staff", "is_superuser"]}),
        (_("Further permissions"), {"classes": ["collapse"], "fields": ["user_permissions"]}),
        (_("Important dates"), {"fields": ["last_login", "date_joined"]}),
    ]
    show_full_result_count = False

    class Media:
        css = {"all": ["knowledge/screens.css"]}

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        return super().get_queryset(request).prefetch_related("groups")

    @admin.display(description=_("roles and teams"))
    def belongs_to(self, user: User) -> str:
        return ", ".join(role_title(group.name) for group in user.groups.all())

    def formfield_for_manytomany(self, db_field: Any, request: Any = None, **kwargs: Any) -> Any:
        """Offer roles and teams as boxes, roles by their titles."""
        if db_field.name == "groups":
            kwargs |= {
                "form_class": RolesAndTeams,
                "label": _("Roles and teams"),
                "help_text": _("A role says what somebody may do, a team what they look after."),
                "widget": forms.CheckboxSelectMultiple,
            }
        return super().formfield_for_manytomany(db_field, request, **kwargs)

    def get_readonly_fields(self, request: HttpRequest, obj: User | None = None) -> Any:
        fields = super().get_readonly_fields(request, obj)
        if obj is not None and DirectoryIdentity.objects.filter(user=obj).exists():
            fields = [*fields, "groups", "is_staff"]  # by the directory, at each login
        return (
            fields if request.user.is_superuser else [*fields, "is_superuser", "user_permissions", "permission_names"]
        )

    def has_change_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        return super().has_change_permission(request, obj) and not (obj and outranks(obj, request.user))

    def has_delete_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        """Forbid deleting an account with recorded actions: it is deactivated instead."""
        if obj and (outranks(obj, request.user) or LogEntry.objects.filter(user=obj).exists()):
            return False
        return super().has_delete_permission(request, obj)

    def get_actions(self, request: HttpRequest) -> Any:
        """Remove the bulk deletion: it would not check for recorded actions."""
        return {name: action for name, action in super().get_actions(request).items() if name != "delete_selected"}


@admin.register(PeriodicTask)
class ScheduleAdmin(TaskModelAdmin):
    """Puts on record who switches tasks on and off or starts them, which django-celery-beat does not."""

    show_full_result_count = False

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        field: Any = super().formfield_for_dbfield(db_field, request, **kwargs)
        if field and isinstance(field.widget, AdminSplitDateTime):
            for part, name in zip(field.widget.widgets, (gettext("Date"), gettext("Time")), strict=True):
                part.attrs["aria-label"] = f"{capfirst(field.label)}: {name}"
        return field

    def get_actions(self, request: HttpRequest) -> Any:
        actions: dict[str, tuple[Callable[..., Any], str, Any]] = super().get_actions(request)  # type: ignore[assignment]
        return {
            name: (action if name == "delete_selected" else recorded(action, said), name, said)
            for name, (action, _name, said) in actions.items()
        }


def recorded(action: Callable[..., Any], said: Any) -> Callable[..., Any]:
    def act(model_admin: Any, request: HttpRequest, queryset: QuerySet[Any]) -> Any:
        rows = list(queryset)
        done = action(model_admin, request, queryset)
        LogEntry.objects.log_actions(cast("int", request.user.pk), cast("Any", rows), CHANGE, str(said))
        return done

    return act


def outranks(user: User, other: Any) -> bool:
    return user.is_superuser and not other.is_superuser
