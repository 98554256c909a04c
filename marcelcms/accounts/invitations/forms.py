"""The form in which a colleague is invited: who they are, what they do, and for whom."""

from typing import Any

from django import forms
from django.contrib.auth.models import Group, User
from django.core.exceptions import ValidationError
from django.db.models import Q
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _

from marcelcms.accounts.roles import ADMINISTRATOR, CURATOR, ROLE_TEXTS, is_role

#: Letters of an account's name, as Django stores it.
NAME_LETTERS = 150


class InvitationForm(forms.Form):
    """Asks for a person, a role, and the teams or the whole university."""

    first_name = forms.CharField(label=_("First name"), max_length=150)
    last_name = forms.CharField(label=_("Last name"), max_length=150)
    email = forms.EmailField(
        label=_("E-mail address"),
        max_length=NAME_LETTERS,
        help_text=_("The link to choose a password goes there, and they sign in with it."),
    )
    role = forms.ChoiceField(label=_("Role"), initial=CURATOR, widget=forms.RadioSelect)
    is_everywhere = forms.BooleanField(
        label=_("Works for the whole university"),
        required=False,
        help_text=_("Sees all collections and assistants. Otherwise choose teams."),
    )
    teams = forms.ModelMultipleChoiceField(
        label=_("Teams"),
        queryset=Group.objects.none(),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=_("They see the collections and assistants that these teams look after."),
    )

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["role"].choices = [  # type: ignore[attr-defined]
            (name, format_html('<strong>{}</strong> <span class="plain-form__says">{}</span>', title, text))
            for name, (title, text) in ROLE_TEXTS.items()
        ]
        self.fields["teams"].queryset = Group.objects.exclude(is_role()).order_by("name")  # type: ignore[attr-defined]

    def clean_email(self) -> str:
        email: str = self.cleaned_data["email"].lower()
        if User.objects.filter(Q(username__iexact=email) | Q(email__iexact=email)).exists():
            raise ValidationError(
                _("There is an account with this address already. On its page you can send a new link.")
            )
        return email

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean() or self.cleaned_data
        sees_all = cleaned.get("is_everywhere") or cleaned.get("role") == ADMINISTRATOR
        if not sees_all and not cleaned.get("teams") and "teams" not in self.errors:
            self.add_error("teams", _("Choose a team, or the whole university: otherwise they see nothing."))
        return cleaned
