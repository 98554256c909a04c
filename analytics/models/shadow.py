"""Changes tried on questions before they go live, and what they would do to each."""

from django.conf import settings
from django.core.serializers.json import DjangoJSONEncoder
from django.db import models
from django.utils.translation import gettext_lazy as _
from pgvector.django import HalfVectorField

from analytics.models.evaluation import EvaluationQuestion
from chat.models import Assistant, Message
from chat.models.assistants import OfAssistants
from core.jobs import JobQuerySet, JobState, RequestedJob


class ShadowTestQuerySet(OfAssistants["ShadowTest"], JobQuerySet["ShadowTest"]):  # type: ignore[override]
    """Shadow tests by owner and by state."""


class ShadowTest(RequestedJob):
    """One change, run against an assistant's questions without going live.

    `draft` is what `target_id` would become (`analytics.shadow.drafts`), `base` the fingerprint of what it was when the
    draft was made: a draft of something that has changed since is not published.
    """

    class Kind(models.TextChoices):
        FAQ = "faq", _("FAQ")
        DOCUMENT = "document", _("document")
        PROFILE = "profile", _("retrieval profile")
        PROMPT = "prompt", _("version of the instructions")

    class Decision(models.TextChoices):
        NONE = "", _("not decided yet")
        PUBLISHED = "published", _("published")
        DISCARDED = "discarded", _("discarded")

    TASK = "analytics.tasks.run_shadow_test"
    State = JobState

    kind = models.CharField(_("kind"), max_length=12, choices=Kind)
    target_id = models.BigIntegerField()
    title = models.CharField(_("change"), max_length=300)
    draft = models.JSONField(encoder=DjangoJSONEncoder)
    base = models.CharField(max_length=32)
    assistant = models.ForeignKey(
        Assistant, on_delete=models.CASCADE, related_name="shadow_tests", verbose_name=_("assistant")
    )
    asks_model = models.BooleanField(_("asks the language model"), default=False)
    changed = models.PositiveIntegerField(_("changed"), default=0)
    better = models.PositiveIntegerField(_("better"), default=0)
    worse = models.PositiveIntegerField(_("worse"), default=0)
    prompt_tokens = models.PositiveBigIntegerField(default=0)
    answer_tokens = models.PositiveBigIntegerField(default=0)
    decision = models.CharField(_("decision"), max_length=12, choices=Decision, blank=True, default=Decision.NONE)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    decided_at = models.DateTimeField(null=True)

    objects = ShadowTestQuerySet.as_manager()

    class Meta:
        verbose_name = _("shadow test")
        verbose_name_plural = _("shadow tests")
        ordering = ["-pk"]
        default_permissions = ("add", "view", "delete")
        indexes = [models.Index(fields=["kind", "target_id"]), models.Index(fields=["state"])]

    def __str__(self) -> str:
        return self.title


class ShadowResult(models.Model):
    """The effect of the change on one question: a kept one, or one that a student asked.

    `before` and `after` are as `analytics.shadow.comparison` writes them. The highest `severity` deserves the first
    look (`analytics.shadow.verdicts`).
    """

    class Verdict(models.TextChoices):
        BETTER = "better", _("better")
        WORSE = "worse", _("worse")
        SAME = "same", _("as good as before")
        UNKNOWN = "unknown", _("nobody said what is right")

    class Unchanged(models.TextChoices):
        NO_QUESTION = "no_question", _("No question that pages answer: small talk, or a cry for help.")
        NOT_REACHED = "not_reached", _("It does not lead to what was changed.")
        ABSTAINS = "abstains", _("Nothing good enough is found, without the change and with it.")
        SAME = "same", _("The same documents come in the same order.")

    test = models.ForeignKey(ShadowTest, on_delete=models.CASCADE, related_name="results")
    question = models.ForeignKey(EvaluationQuestion, on_delete=models.CASCADE, null=True, related_name="+")
    message = models.ForeignKey(Message, on_delete=models.CASCADE, null=True, related_name="+")
    verdict = models.CharField(max_length=8, choices=Verdict)
    sources_changed = models.BooleanField()
    decision_changed = models.BooleanField()
    answer_changed = models.BooleanField()
    severity = models.PositiveSmallIntegerField()
    # Why nothing changed; empty if something did, and of tests from before this was kept.
    unchanged = models.CharField(max_length=12, choices=Unchanged, blank=True, default="")
    before = models.JSONField()
    after = models.JSONField()

    class Meta:
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(fields=["test", "question"], name="one_shadow_of_a_kept_question"),
            models.UniqueConstraint(fields=["test", "message"], name="one_shadow_of_an_asked_question"),
            models.CheckConstraint(
                condition=models.Q(question=None, message__isnull=False)
                | models.Q(question__isnull=False, message=None),
                name="shadow_of_one_question",
            ),
        ]
        indexes = [models.Index(fields=["test", "-severity", "id"], name="shadow_worst_first")]

    def __str__(self) -> str:
        return f"{self.test_id}: {self.verdict}"


class AskedVector(models.Model):
    """The vector of a question that an FAQ's form looks for neighbours among; without what tells who asked.

    `of` is the fingerprint of the embedding recipe and the text, so that an edited question is embedded again.
    """

    message = models.OneToOneField(Message, on_delete=models.CASCADE, null=True, related_name="+")
    question = models.OneToOneField(EvaluationQuestion, on_delete=models.CASCADE, null=True, related_name="+")
    recipe = models.CharField(max_length=32)
    of = models.CharField(max_length=32)
    embedding = HalfVectorField()

    class Meta:
        default_permissions = ()
        constraints = [
            models.CheckConstraint(
                condition=models.Q(question=None, message__isnull=False)
                | models.Q(question__isnull=False, message=None),
                name="vector_of_one_question",
            )
        ]

    def __str__(self) -> str:
        return self.of
