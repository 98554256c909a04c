"""Adopt the other settings of an experiment, and take that back."""

from collections.abc import Sequence
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from analytics.experiments.services import GUARDS, tried_settings
from chat.models import Assistant, Experiment
from chat.services.profiles import check_usable

#: The setting that is several rows.
COLLECTIONS = "collections"


@transaction.atomic
def adopt_experiment(*, experiment: Experiment) -> tuple[Assistant, list[str]]:
    """Make the other settings the assistant's own; return it and what changed. Raise ValidationError."""
    assistant, row = _lock(experiment)
    if not may_adopt(row):
        raise ValidationError(
            _("Only settings of an experiment that has ended, and that no guard rail ended, are adopted.")
        )
    if row.profile:
        check_usable(row.profile)
    changed = tried_settings(row)
    if changed != row.began_with["tried"]:
        raise ValidationError(_("Some of the settings that were tried are deleted meanwhile."))
    row.replaced = settings_of(assistant, changed)
    for name, value in row.overrides.items():
        setattr(assistant, name, value)
    assistant.save(update_fields=list(row.overrides))
    if COLLECTIONS in changed:
        assistant.collections.set(row.collections.all())
    row.adopted_at, row.taken_back_at = timezone.now(), None
    row.save(update_fields=["adopted_at", "taken_back_at", "replaced"])
    return assistant, changed


@transaction.atomic
def take_back_experiment(*, experiment: Experiment) -> tuple[Assistant, list[str]]:
    """Give the assistant the settings from before the adoption; return it and what changed. Raise ValidationError."""
    assistant, row = _lock(experiment)
    if not may_take_back(row):
        raise ValidationError(
            _("Only adopted settings are taken back, and only while the assistant still has all of them.")
        )
    _check_there(row)
    values = {name: value for name, value in row.replaced.items() if name != COLLECTIONS}
    for name, value in values.items():
        setattr(assistant, _column(name), value)
    if assistant.profile:
        check_usable(assistant.profile)
    assistant.save(update_fields=list(values))
    if COLLECTIONS in row.replaced:
        assistant.collections.set(row.replaced[COLLECTIONS])
    row.taken_back_at = timezone.now()
    row.save(update_fields=["taken_back_at"])
    return assistant, list(row.replaced)


def may_adopt(experiment: Experiment) -> bool:
    is_adopted = experiment.adopted_at is not None and experiment.taken_back_at is None
    return experiment.state == Experiment.State.ENDED and not is_adopted and experiment.ending not in GUARDS


def may_take_back(experiment: Experiment) -> bool:
    """Return whether it is adopted and nobody has changed any of its settings since: three queries at most."""
    if experiment.adopted_at is None or experiment.taken_back_at is not None or not experiment.replaced:
        return False
    names = list(experiment.replaced)
    return settings_of(Assistant.objects.get(pk=experiment.assistant_id), names) == settings_of(experiment, names)


def settings_of(row: Assistant | Experiment, names: Sequence[str]) -> dict[str, Any]:
    """Return these settings of an assistant, or of an experiment's other arm: rows by their ids."""
    found = {name: getattr(row, _column(name)) for name in names if name != COLLECTIONS}
    if COLLECTIONS in names:
        found[COLLECTIONS] = sorted(row.collections.values_list("pk", flat=True))
    return found


def _column(name: str) -> str:
    column: str = Assistant._meta.get_field(name).attname  # type: ignore[union-attr]
    return column


def _check_there(experiment: Experiment) -> None:
    """Raise ValidationError if something that the assistant had before is deleted."""
    for name, value in experiment.replaced.items():
        model: Any = Assistant._meta.get_field(name).related_model
        wanted = value if name == COLLECTIONS else [value]
        if model and value and model.objects.filter(pk__in=wanted).count() < len(wanted):
            raise ValidationError(_("Some of the settings from before are deleted meanwhile."))


def _lock(experiment: Experiment) -> tuple[Assistant, Experiment]:
    assistant = Assistant.objects.select_for_update(of=("self",)).get(pk=experiment.assistant_id)
    rows = Experiment.objects.select_for_update(of=("self",)).select_related("profile", "prompt")
    return assistant, rows.get(pk=experiment.pk)
