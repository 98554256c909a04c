"""Teams: groups of staff who look after assistants and collections. Roles, groups too, say what they may do there."""

from collections.abc import Iterable

from django import forms
from django.contrib.admin.models import ADDITION, LogEntry
from django.contrib.auth.models import Group, User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from chat.models import Assistant
from knowledge.models import Collection
from marcelcms.accounts.roles import ROLE_TEXTS, WHOLE_UNIVERSITY, role_title

DUTIES = ("assistants", "collections")


def assistants_field() -> "forms.ModelMultipleChoiceField[Assistant]":
    return forms.ModelMultipleChoiceField(
        Assistant.objects.order_by("name"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label=_("Looks after these assistants"),
        help_text=_("Sees what students ask them: topics, answers to review, conversations."),
    )


def collections_field() -> "forms.ModelMultipleChoiceField[Collection]":
    return forms.ModelMultipleChoiceField(
        Collection.objects.filter(for_evaluation=False).order_by("name"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label=_("Looks after these collections"),
        help_text=_("Works on their pages, PDFs, sources and FAQs."),
    )


def describe_duties(team: Group) -> str:
    """Return what the team looks after, in words."""
    names = [each.name for duty in DUTIES for each in getattr(team, duty).all()]
    return ", ".join(names) if names else gettext("nothing yet")


def is_idle(team: Group) -> bool:
    return not any(getattr(team, duty).exists() for duty in DUTIES)


@transaction.atomic
def make_team(*, name: str, assistants: Iterable[Assistant], collections: Iterable[Collection], by: User) -> Group:
    """Make a team that looks after these, and put on record who made it."""
    team = Group.objects.create(name=name)
    team.assistants.set(assistants)
    team.collections.set(collections)
    LogEntry.objects.log_actions(by.pk, [team], ADDITION, [{"added": {}}], single_object=True)
    return team


def check_name(name: str) -> None:
    """Raise ValidationError if a team or a role has this name."""
    titles = {str(title).casefold() for title, _text in ROLE_TEXTS.values()} | {role_title(WHOLE_UNIVERSITY).casefold()}
    if name.casefold() in titles or Group.objects.filter(name__iexact=name).exists():
        raise ValidationError(_("There is a team or a role with this name already."))
