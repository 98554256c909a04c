"""Experiments: an assistant answers some conversations with other settings, to see whether that is better."""

from typing import Self
from uuid import UUID

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext_lazy as _

from chat.models.assistants import Assistant, OfAssistants
from chat.models.profiles import RetrievalProfile
from chat.models.prompts import PromptVersion
from knowledge.models import Collection

#: Settings of an assistant that the other arm may have another value of; the collections are apart.
SETTINGS = ("profile", "prompt", "model", "evidence_needed")


class Arm(models.TextChoices):
    """The sides of an experiment: the assistant's own settings, and those that are tried."""

    NOW = "now", _("as now")
    OTHER = "other", _("other settings")


class ExperimentQuerySet(OfAssistants["Experiment"]):
    def running(self) -> Self:
        return self.filter(state=Experiment.State.RUNNING)


class Experiment(models.Model):
    """Two arms of an assistant: its own settings, and the same with those that are filled in here.

    What is asked is fixed at the start: `began_with` describes both arms then, and `needed` is the number of
    conversations that the rule was planned for, from the `baseline` of the last weeks. `replaced` are the settings of
    the assistant in whose place those of the other arm were adopted; by their fields, rows by their ids.
    """

    class Measure(models.TextChoices):
        HELPED = "helped", _("Answered, and nothing spoke against it")
        ANSWERED = "answered", _("No question stayed without an answer")

    class Rule(models.TextChoices):
        FIXED = "fixed", _("Once, when all planned conversations are there")
        SEQUENTIAL = "sequential", _("Every night, and earlier where the difference is clear")

    class State(models.TextChoices):
        DRAFT = "draft", _("not started")
        RUNNING = "running", _("running")
        ENDED = "ended", _("ended")

    class Ending(models.TextChoices):
        OTHER = "other", _("The other settings are better")
        NOW = "now", _("The settings as now are better")
        NONE = "none", _("No difference was shown")
        ABSTAINED = "abstained", _("Guard rail: the other settings left more questions without an answer")
        DISLIKED = "disliked", _("Guard rail: the other settings got more thumbs down")
        FAILED = "failed", _("Guard rail: more answers failed with the other settings")
        CHANGED = "changed", _("The settings of an arm were changed meanwhile")
        STOPPED = "stopped", _("Ended by staff before it was decided")

    assistant = models.ForeignKey(
        Assistant, on_delete=models.CASCADE, related_name="experiments", verbose_name=_("assistant")
    )
    name = models.CharField(_("name"), max_length=100, help_text=_("What you want to know, in a few words."))
    profile = models.ForeignKey(
        RetrievalProfile,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="experiments",
        verbose_name=_("retrieval profile"),
        help_text=_("Empty: as now."),
    )
    prompt = models.ForeignKey(
        PromptVersion,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="experiments",
        verbose_name=_("version of the instructions"),
        help_text=_("Empty: as now."),
    )
    model = models.CharField(
        _("model"),
        max_length=200,
        blank=True,
        help_text=_("Its name as the server’s model endpoint knows it. Empty: as now."),
    )
    evidence_needed = models.FloatField(
        _("evidence needed"),
        null=True,
        blank=True,
        validators=[MinValueValidator(0), MaxValueValidator(1)],
        help_text=_("From 0 to 1. Empty: as now."),
    )
    collections = models.ManyToManyField(
        Collection,
        blank=True,
        related_name="+",
        verbose_name=_("collections"),
        help_text=_("What it answers from, with the FAQs there; none: as now."),
    )
    share = models.PositiveSmallIntegerField(
        _("share of the other settings, in %"),
        default=50,
        validators=[MinValueValidator(1), MaxValueValidator(99)],
        help_text=_("Of all new conversations, from 1 to 99. With 50 the answer comes soonest."),
    )
    measure = models.CharField(_("what decides"), max_length=8, choices=Measure, default=Measure.HELPED)
    rule = models.CharField(_("when it is decided"), max_length=10, choices=Rule, default=Rule.SEQUENTIAL)
    least_difference = models.PositiveSmallIntegerField(
        _("smallest difference that matters, in points"),
        default=5,
        validators=[MinValueValidator(1), MaxValueValidator(50)],
        help_text=_(
            "Of 100 conversations. One as large is found with a probability of 80 %; half of it takes four times "
            "as many conversations."
        ),
    )
    guard_margin = models.PositiveSmallIntegerField(
        _("guard rails, in points"),
        default=5,
        validators=[MinValueValidator(1), MaxValueValidator(50)],
        help_text=_(
            "The other settings end at once where surely so many more conversations of 100 have a question "
            "without an answer, a thumb down or a failure."
        ),
    )
    state = models.CharField(_("state"), max_length=8, choices=State, default=State.DRAFT, editable=False)
    ending = models.CharField(_("result"), max_length=10, choices=Ending, blank=True, editable=False)
    baseline = models.FloatField(null=True, editable=False)
    needed = models.PositiveIntegerField(null=True, editable=False)
    began_with = models.JSONField(default=dict, editable=False)
    started_at = models.DateTimeField(_("started"), null=True, editable=False)
    started_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, editable=False, related_name="+"
    )
    ended_at = models.DateTimeField(_("ended"), null=True, editable=False)
    adopted_at = models.DateTimeField(_("adopted"), null=True, editable=False)
    replaced = models.JSONField(default=dict, db_default={}, editable=False)
    taken_back_at = models.DateTimeField(_("taken back"), null=True, editable=False)

    objects = ExperimentQuerySet.as_manager()

    class Meta:
        verbose_name = _("experiment")
        verbose_name_plural = _("experiments")
        ordering = ["-pk"]
        default_permissions = ("view",)
        constraints = [
            models.UniqueConstraint(
                fields=["assistant"],
                condition=models.Q(state="running"),
                name="one_running_experiment_an_assistant",
                violation_error_message=_("Another experiment of this assistant is running."),
            ),
            models.CheckConstraint(condition=models.Q(share__range=(1, 99)), name="both_arms_have_a_share"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_draft(self) -> bool:
        return self.state == self.State.DRAFT

    @property
    def is_running(self) -> bool:
        return self.state == self.State.RUNNING

    @property
    def overrides(self) -> dict[str, object]:
        """Return the settings that the other arm has a value of its own for."""
        values = {name: getattr(self, name) for name in SETTINGS}
        return {name: value for name, value in values.items() if value not in (None, "")}

    def lay_over(self, assistant: Assistant) -> Assistant:
        """Return the assistant with the other arm's settings, not to be saved; its collections are asked for here."""
        laid = Assistant(
            **{field.attname: getattr(assistant, field.attname) for field in Assistant._meta.concrete_fields}
        )
        for name in ("profile", "prompt"):
            if name not in self.overrides:
                setattr(laid, name, getattr(assistant, name))
        for name, value in self.overrides.items():
            setattr(laid, name, value)
        return laid


def arm_of(experiment: int, share: int, conversation: UUID) -> Arm:
    """Return the arm of a new conversation: the same for all its first questions.

    A browser chooses the conversation's id, so the hash has the server's key: nobody can choose an arm.
    """
    digest = salted_hmac("chat.experiment", f"{experiment}:{conversation}", algorithm="sha256").digest()
    place = int.from_bytes(digest[:8], "big") / 2**64
    return Arm.OTHER if place < share / 100 else Arm.NOW
