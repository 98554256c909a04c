"""Answers that staff judge: those that may have gone wrong, and a random sample."""

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.translation import gettext_lazy as _

from analytics.models.gaps import Gap
from chat.models import Assistant, HeldBackSentence, Message
from chat.models.assistants import Language, OfAssistants
from faqs.models import ConfirmedQuestion


class Review(models.Model):
    """One answer that went wrong, or may have, from the day it was collected (`analytics.reviews.collect`) until
    somebody has judged it.

    What its list shows of the answer stands here again, so that 100,000 of them are listed without reading a message;
    never the student's words. `version` counts what staff did: who saves with an older one is told first.
    """

    class Reason(models.TextChoices):
        ABSTAINED = "abstained", _("No answer given")
        THUMBS_DOWN = "thumbs_down", _("Thumbs down")
        LOW_RATING = "low_rating", _("Few stars")
        INJECTION = "injection", _("Signs of an attack")
        FAILED = "failed", _("Failed")

    class State(models.TextChoices):
        OPEN = "open", _("open")
        ANSWERED = "answered", _("answered, watch")
        DONE = "done", _("done")

    class Verdict(models.TextChoices):
        CORRECT_ABSTENTION = "correct_abstention", _("Right not to answer")
        MISSING_KNOWLEDGE = "missing_knowledge", _("Missing content")
        WRONG_RETRIEVAL = "wrong_retrieval", _("Wrong pages found")
        WRONG_ANSWER = "wrong_answer", _("Right pages, wrong answer")
        OUT_OF_SCOPE = "out_of_scope", _("Not for this assistant")
        ABUSE = "abuse", _("Abuse")
        CORRECT_ANSWER = "correct_answer", _("The answer was right")

    message = models.OneToOneField(Message, on_delete=models.CASCADE, related_name="review")
    assistant = models.ForeignKey(
        Assistant, on_delete=models.SET_NULL, null=True, related_name="reviews", verbose_name=_("assistant")
    )
    language = models.CharField(_("language"), max_length=2, choices=Language, blank=True)
    asked_at = models.DateTimeField(_("asked"))
    reasons = ArrayField(models.CharField(max_length=12, choices=Reason), default=list, verbose_name=_("reasons"))
    state = models.CharField(_("state"), max_length=8, choices=State, default=State.OPEN)
    verdict = models.CharField(_("verdict"), max_length=20, choices=Verdict, blank=True)
    assigned_to = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="reviews",
        verbose_name=_("assigned to"),
    )
    done_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+", verbose_name=_("done by")
    )
    done_at = models.DateTimeField(_("done at"), null=True)
    due_on = models.DateField(_("due"), null=True, blank=True)
    # The topic that the question belongs to since the last gap run.
    gap = models.ForeignKey(Gap, on_delete=models.SET_NULL, null=True, related_name="reviews", verbose_name=_("topic"))
    version = models.PositiveIntegerField(default=0)
    # When its version was last counted up, and by whom; nobody: by itself.
    changed_at = models.DateTimeField(null=True, editable=False)
    changed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, editable=False, related_name="+"
    )
    # Which FAQ the question means, as staff confirmed it; deleted with the review.
    confirmed = models.OneToOneField(
        ConfirmedQuestion, on_delete=models.SET_NULL, null=True, editable=False, related_name="review"
    )
    # Whether the verdict alone confirmed it: then it goes when the verdict changes.
    confirmed_by_verdict = models.BooleanField(default=False, db_default=False, editable=False)

    objects = OfAssistants.as_manager()

    class Meta:
        verbose_name = _("answer to review")
        verbose_name_plural = _("answers to review")
        ordering = ["-state", "-asked_at", "-pk"]  # to do first, answered last
        default_permissions = ("view", "change")
        indexes = [models.Index(fields=["-state", "-asked_at", "-id"])]

    def __str__(self) -> str:
        """Return what goes into the audit log, which outlives the conversation."""
        return f"#{self.pk}"


class HeldBackRise(models.Model):
    """More of an assistant's sentences are held back than before (`analytics.reviews.held_back`), until it `ended_at`.

    `share` and `share_before` are those of the day on which it was noticed, from 0 to 1; `reason` is the most frequent
    one of then.
    """

    assistant = models.ForeignKey(Assistant, on_delete=models.CASCADE, related_name="held_back_rises")
    share = models.FloatField()
    share_before = models.FloatField()
    reason = models.CharField(max_length=30, choices=HeldBackSentence.Reason, blank=True)
    first_day = models.DateField()
    noticed_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True)

    objects = OfAssistants.as_manager()

    class Meta:
        ordering = ["-noticed_at"]
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(
                fields=["assistant"], condition=models.Q(ended_at=None), name="one_rise_at_a_time_an_assistant"
            )
        ]

    def __str__(self) -> str:
        return f"{self.assistant_id}: {self.first_day}"


class ReviewFeed(models.Model):
    """Progress of a feed of answers, ratings or changes; `until` is the time of the last one that was read."""

    name = models.CharField(max_length=12, unique=True)
    until = models.DateTimeField()
    looked_at = models.DateTimeField(auto_now=True)

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return self.name


class SampleVerdict(models.Model):
    """A verdict of one member of staff on a sampled answer. Members do not see each other's verdicts."""

    class Verdict(models.TextChoices):
        """Those of a review that say the same have the same name."""

        RIGHT = "correct_answer", _("Right")
        WRONG = "wrong_answer", _("Wrong")
        SHOULD_ABSTAIN = "should_abstain", _("Should not have answered")
        RIGHTLY_ABSTAINED = "correct_abstention", _("Right not to answer")
        SHOULD_ANSWER = "missing_knowledge", _("Should have answered")

    answer = models.ForeignKey("SampledAnswer", on_delete=models.CASCADE, related_name="verdicts")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    verdict = models.CharField(_("verdict"), max_length=20, choices=Verdict)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["answer", "by"], name="one_verdict_a_member_and_answer")]

    def __str__(self) -> str:
        return f"{self.answer_id}: {self.verdict}"


class SampledAnswer(models.Model):
    """One answer of a night's sample (`analytics.quality.sampling`), apart from what is reviewed for other reasons.

    What figures need stands here and outlives the conversation: the assistant, the day, the evidence (None: no
    threshold holds the answer back), the `threshold` of then, and whether there was an answer or an abstention; never a
    word. `is_newcomer` marks the first of a visitor in a week, so that people are counted without knowing them.
    `model_verdict` is what a judging model found (`analytics.quality.by_model`), and empty where none has judged.
    """

    message = models.OneToOneField(Message, on_delete=models.SET_NULL, null=True, related_name="sampled")
    assistant = models.ForeignKey(
        Assistant, on_delete=models.CASCADE, related_name="sampled_answers", verbose_name=_("assistant")
    )
    day = models.DateField(_("day"))
    evidence = models.FloatField(_("evidence"), null=True)
    threshold = models.FloatField()
    is_shown = models.BooleanField(_("answered"))
    is_newcomer = models.BooleanField()
    model_verdict = models.CharField(
        max_length=20, choices=SampleVerdict.Verdict, blank=True, default="", db_default="", editable=False
    )

    objects = OfAssistants.as_manager()

    class Meta:
        verbose_name = _("sampled answer")
        verbose_name_plural = _("sample of answers")
        ordering = ["day", "pk"]
        default_permissions = ("view", "change")
        indexes = [models.Index(fields=["assistant", "day"], name="sample_by_day")]

    def __str__(self) -> str:
        """Return what goes into the audit log, which outlives the conversation."""
        return f"#{self.pk}"


class SampleNight(models.Model):
    """A night whose sample of an assistant is drawn, so that it is drawn once; `asked` is what it was drawn from."""

    assistant = models.ForeignKey(Assistant, on_delete=models.CASCADE, related_name="+")
    day = models.DateField()
    asked = models.PositiveIntegerField()

    class Meta:
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["assistant", "day"], name="one_sample_a_night")]

    def __str__(self) -> str:
        return f"{self.assistant_id}: {self.day}"


class QualityDrop(models.Model):
    """Fewer of an assistant's sampled answers are right than before (`analytics.quality.drops`), until it `ended_at`.

    `share` and `share_before` are those of the day on which it was noticed, from 0 to 1; `mailed_to` are those who got
    an e-mail about it.
    """

    assistant = models.ForeignKey(Assistant, on_delete=models.CASCADE, related_name="quality_drops")
    share = models.FloatField()
    share_before = models.FloatField()
    first_day = models.DateField()
    noticed_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True)
    mailed_to = models.ManyToManyField(settings.AUTH_USER_MODEL, related_name="+")

    objects = OfAssistants.as_manager()

    class Meta:
        ordering = ["-noticed_at"]
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(
                fields=["assistant"], condition=models.Q(ended_at=None), name="one_drop_at_a_time_an_assistant"
            )
        ]

    def __str__(self) -> str:
        return f"{self.assistant_id}: {self.first_day}"
