"""Trials of a language model on questions with known answers."""

from typing import Any

from django.db import models
from django.utils.translation import gettext_lazy as _

from chat.models import Assistant
from chat.models.assistants import OfAssistants
from core.jobs import ACTIVE, JobQuerySet, JobState, RequestedJob


class ModelTrialQuerySet(OfAssistants["ModelTrial"], JobQuerySet["ModelTrial"]):  # type: ignore[override]
    """Trials by owner and by state."""


class ModelTrial(RequestedJob):
    """One model, tried with every layout of the prompt on an assistant's known questions.

    `questions` are the keys of the questions (`analytics.model_trials.questions`), those of the first round first.
    `outcomes` are the answers so far (`analytics.model_trials.outcomes`), so that a trial that ended early goes on.
    """

    TASK = "analytics.tasks.run_model_trial"
    State = JobState

    assistant = models.ForeignKey(
        Assistant, on_delete=models.CASCADE, related_name="model_trials", verbose_name=_("assistant")
    )
    model = models.CharField(_("model"), max_length=200)
    prompt = models.CharField(_("version of the instructions"), max_length=80, blank=True)
    wanted = models.PositiveSmallIntegerField()
    questions: "models.JSONField[list[str], list[str]]" = models.JSONField(default=list)
    outcomes: "models.JSONField[list[dict[str, Any]], list[dict[str, Any]]]" = models.JSONField(default=list)

    objects = ModelTrialQuerySet.as_manager()

    class Meta:
        verbose_name = _("trial of a language model")
        verbose_name_plural = _("trials of language models")
        ordering = ["-pk"]
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(
                fields=["assistant"], condition=models.Q(state__in=ACTIVE), name="one_trial_an_assistant_at_a_time"
            )
        ]

    def __str__(self) -> str:
        return f"{self.assistant}: {self.model}"
