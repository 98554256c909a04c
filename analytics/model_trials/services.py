"""Starts and stops trials of a language model."""

from django.contrib.auth.models import AbstractBaseUser
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _

from analytics.model_trials.questions import FEWEST, known_questions
from analytics.model_trials.run import TOO_FEW
from analytics.models import ModelTrial
from analytics.tasks import run_model_trial
from chat.models import Assistant
from core.inference.llm import client

#: Questions with an answer that a trial asks.
QUESTIONS = 12
State = ModelTrial.State


@transaction.atomic
def start_trial(*, assistant: Assistant, by: AbstractBaseUser | None = None) -> ModelTrial:
    """Start a trial, unless one waits or runs already. Raise ValidationError."""
    trial = prepare_trial(assistant=assistant, by=by)
    run_model_trial.delay_on_commit(trial.pk)
    return trial


@transaction.atomic
def prepare_trial(*, assistant: Assistant, wanted: int = QUESTIONS, by: AbstractBaseUser | None = None) -> ModelTrial:
    """Return a trial that waits or runs: a new one, or the one of the same kind that ended early.

    Raise ValidationError if there is no model, or too few questions.
    """
    Assistant.objects.select_for_update(of=["self"]).get(pk=assistant.pk)  # a double click waits here
    if not client.is_configured():
        raise ValidationError(_("This server has no language model to try."))
    if active := ModelTrial.objects.active().filter(assistant=assistant).first():
        return active
    if len(known_questions(assistant)) < FEWEST:
        raise ValidationError(_(TOO_FEW))
    kind = {
        "assistant": assistant,
        "model": assistant.model_name,
        "prompt": assistant.prompt.name if assistant.prompt else "",
        "wanted": wanted,
    }
    broken_off = ModelTrial.objects.filter(**kind, state__in=(State.FAILED, State.CANCELLED)).first()
    if broken_off and broken_off == ModelTrial.objects.filter(assistant=assistant).first():
        broken_off.requeue(message="")
        return broken_off
    return ModelTrial.objects.create(**kind, requested_by_id=by.pk if by else None)


@transaction.atomic
def cancel_trial(*, trial: ModelTrial) -> bool:
    """End it within seconds; return False if it had ended. What it found is kept for the next start."""
    return trial.cancel()
