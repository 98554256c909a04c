"""The form in which a colleague is invited: who they are, what they do, and for whom."""

from typing import Any

from django import forms
from django.contrib.auth.models import Group, User
from django.core.exceptions import ValidationError
from django.db.models import Q
from django.utils.html import format_html
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from marcelcms.accounts.roles import ADMINISTRATOR, CURATOR, ROLE_TEXTS, is_role
from marcelcms.accounts.teams import DUTIES, assistants_field, check_name, collections_field, describe_duties, is_idle

#: Letters of an account's name, as Django stores it.
NAME_LETTERS = 150


class InvitationForm(forms.Form):
    """Asks for a person, a role, and the teams or the whole university."""

    first_name = forms.CharField(label=_("First name"), max_length=150)
    last_name = forms.CharField(label=_("Last name"), max_length=150)
    email = forms.EmailField(
        label=_("E-mail address"),
        max_length=NAME_LETTERS,
        help_text=_("The person signs in with it."),
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
    new_team = forms.CharField(
        label=_("A new team"),
        required=False,
        max_length=NAME_LETTERS,
        help_text=_("Its name, such as that of a faculty. Choose below what it looks after."),
    )
    assistants = assistants_field()
    collections = collections_field()

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["role"].choices = [  # type: ignore[attr-defined]
            (name, format_html('<strong>{}</strong> <span class="plain-form__says">{}</span>', title, text))
            for name, (title, text) in ROLE_TEXTS.items()
        ]
        teams = Group.objects.exclude(is_role()).order_by("name").prefetch_related("assistants", "collections")
        self.fields["teams"].queryset = teams  # type: ignore[attr-defined]
        self.fields["teams"].label_from_instance = _team_label  # type: ignore[attr-defined]

    @property
    def duties(self) -> list[forms.BoundField]:
        """The fields that say what the new team looks after."""
        return [self[duty] for duty in DUTIES]

    def clean_email(self) -> str:
        email: str = self.cleaned_data["email"].lower()
        if User.objects.filter(Q(username__iexact=email) | Q(email__iexact=email)).exists():
            raise ValidationError(
                _("There is an account with this address already. On its page you can send a new link.")
            )
        return email

    def clean_new_team(self) -> str:
        name: str = self.cleaned_data["new_team"]
        if name:
            check_name(name)
        return name

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean() or self.cleaned_data
        duties = bool(cleaned.get("assistants") or cleaned.get("collections"))
        if cleaned.get("new_team") and not duties:
            self.add_error("new_team", _("Choose what the team looks after: otherwise it sees nothing."))
        if duties and not cleaned.get("new_team") and "new_team" not in self.errors:
            self.add_error("new_team", _("Write the name of the team that looks after what you chose."))
        if cleaned.get("is_everywhere") or cleaned.get("role") == ADMINISTRATOR:
            return cleaned
        teams = cleaned.get("teams") or ()
        if not teams and not {"teams", "new_team"} & {*self.errors} and not cleaned.get("new_team"):
            said = _("Choose a team, name a new one, or choose the whole university: otherwise they see nothing.")
            self.add_error("teams", said)
        if teams and not cleaned.get("new_team") and all(map(is_idle, teams)):
            self.add_error(
                "teams", _("These teams look after nothing yet. Choose on their pages what they look after.")
            )
        return cleaned


def _team_label(team: Group) -> str:
    return gettext("%(team)s: looks after %(duties)s") % {"team": team.name, "duties": describe_duties(team)}
