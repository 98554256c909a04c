"""Screens of the directory: what its groups may do here, and which accounts are whose."""

from typing import TYPE_CHECKING, Any, cast

from django import forms
from django.contrib import admin
from django.contrib.auth.models import Group, User
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from marcelcms.accounts.roles import ROLE_TEXTS, is_role, role_title
from marcelcms.accounts.sign_on import directory
from marcelcms.accounts.sign_on.local import is_break_glass
from marcelcms.accounts.sign_on.services import link
from marcelcms.models import DirectoryGroup, DirectoryIdentity

if TYPE_CHECKING:
    GroupModelAdmin = admin.ModelAdmin[DirectoryGroup]
    IdentityModelAdmin = admin.ModelAdmin[DirectoryIdentity]
    GroupModelForm = forms.ModelForm[DirectoryGroup]
    IdentityModelForm = forms.ModelForm[DirectoryIdentity]
else:
    GroupModelAdmin = IdentityModelAdmin = admin.ModelAdmin
    GroupModelForm = IdentityModelForm = forms.ModelForm


class DirectoryGroupForm(GroupModelForm):
    role = forms.ChoiceField(label=_("Role"), choices=[(name, title) for name, (title, _text) in ROLE_TEXTS.items()])
    teams = forms.ModelMultipleChoiceField(
        label=_("Teams"),
        queryset=Group.objects.none(),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=_("They see the collections and assistants that these teams look after."),
    )

    class Meta:
        model = DirectoryGroup
        fields = ("name", "role", "is_everywhere", "teams")

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if "teams" in self.fields:
            teams = cast("forms.ModelMultipleChoiceField[Group]", self.fields["teams"])
            teams.queryset = Group.objects.exclude(is_role()).order_by("name")


@admin.register(DirectoryGroup)
class DirectoryGroupAdmin(GroupModelAdmin):
    """Rights follow these rows at each login."""

    form = DirectoryGroupForm
    list_display = ["name", "role_title", "is_everywhere", "team_names"]
    search_fields = ["name"]
    list_per_page = 50
    show_full_result_count = False
    nothing_yet = _("No group of the directory has a role yet, so nobody can log in with the directory.")

    def get_queryset(self, request: HttpRequest) -> QuerySet[DirectoryGroup]:
        return super().get_queryset(request).prefetch_related("teams")

    @admin.display(description=_("role"), ordering="role")
    def role_title(self, group: DirectoryGroup) -> str:
        return role_title(group.role)

    @admin.display(description=_("teams"))
    def team_names(self, group: DirectoryGroup) -> str:
        return ", ".join(sorted(team.name for team in group.teams.all()))


class LinkForm(IdentityModelForm):
    class Meta:
        model = DirectoryIdentity
        fields = ("user", "subject")

    def clean_subject(self) -> str:
        subject: str = self.cleaned_data["subject"].strip()
        if DirectoryIdentity.objects.filter(issuer=directory.issuer(), subject=subject).exists():
            raise ValidationError(_("This person of the directory has an account already."))
        return subject

    def clean_user(self) -> User:
        user: User = self.cleaned_data["user"]
        if user.is_superuser or is_break_glass(user):
            raise ValidationError(
                _("Superusers and the account for emergencies keep their password and do without the directory.")
            )
        return user


@admin.register(DirectoryIdentity)
class DirectoryIdentityAdmin(IdentityModelAdmin):
    """Links an account that was here before; those of first logins come by themselves."""

    form = LinkForm
    autocomplete_fields = ["user"]
    list_display = ["user", "subject", "created_at", "last_login_at"]
    list_select_related = ["user"]
    search_fields = ["user__username", "subject"]
    list_per_page = 50
    show_full_result_count = False
    actions = None
    nothing_yet = _("Nobody has logged in with the directory yet.")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return directory.is_configured() and super().has_add_permission(request)

    def has_change_permission(self, request: HttpRequest, obj: DirectoryIdentity | None = None) -> bool:
        return False

    def get_fields(self, request: HttpRequest, obj: DirectoryIdentity | None = None) -> Any:
        return ["user", "subject"] if obj is None else ["user", "issuer", "subject", "created_at", "last_login_at"]

    def save_model(self, request: HttpRequest, obj: DirectoryIdentity, form: Any, change: bool) -> None:
        made = link(user=obj.user, issuer=directory.issuer(), subject=obj.subject, by=cast("User", request.user))
        obj.pk, obj.issuer, obj.created_at = made.pk, made.issuer, made.created_at
        obj._state.adding = False
