"""The screen on which administrators say which roles need a second factor."""

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from marcelcms.accounts.roles import ROLE_TEXTS, role_title
from marcelcms.accounts.second_factor.services import SUPERUSER
from marcelcms.models import RoleWithSecondFactor

if TYPE_CHECKING:
    RoleModelAdmin = admin.ModelAdmin[RoleWithSecondFactor]
    RoleModelForm = forms.ModelForm[RoleWithSecondFactor]
else:
    RoleModelAdmin, RoleModelForm = admin.ModelAdmin, forms.ModelForm

CHOICES = [*((name, title) for name, (title, _text) in ROLE_TEXTS.items()), (SUPERUSER, _("Superusers"))]


class RoleForm(RoleModelForm):
    role = forms.ChoiceField(label=_("Role"), choices=CHOICES)

    class Meta:
        model = RoleWithSecondFactor
        fields = ("role",)


@admin.register(RoleWithSecondFactor)
class RoleWithSecondFactorAdmin(RoleModelAdmin):
    """A row is a role that logs in with a password and a code."""

    form = RoleForm
    list_display = ["title"]
    show_full_result_count = False
    nothing_yet = _("No role needs a second factor. Everybody may set one up for themselves.")

    @admin.display(description=_("role"), ordering="role")
    def title(self, row: RoleWithSecondFactor) -> str:
        return str(_("Superusers")) if row.role == SUPERUSER else role_title(row.role)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
