"""Answers that staff should look at, and what they found."""

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.translation import gettext_lazy as _

from chat.models import Assistant, HeldBackSentence, Message
from chat.models.assistants import Language, OfAssistants


class Review(models.Model):
    """One answer that went wrong, or may have, from the day it was collected (`analytics.reviews.collect`) until
    somebody has judged it.

    What its list shows of the answer stands here again, so that 100,000 of them are listed without reading a message;
    never the student's words. `version` counts what staff did: who saves with an older one is told first.
    """

    class Reason(models.TextChoices):
        ABSTAINED = "abstained", _("Abstained")
        THUMBS_DOWN = "thumbs_down", _("Thumbs down")
        LOW_RATING = "low_rating", _("Few stars")
        INJECTION = "injection", _("Signs of an attack")
        FAILED = "failed", _("Failed")

    class State(models.TextChoices):
        OPEN = "open", _("to do")
        DONE = "done", _("done")

    class Verdict(models.TextChoices):
        CORRECT_ABSTENTION = "correct_abstention", _("Rightly abstained")
        MISSING_KNOWLEDGE = "missing_knowledge", _("Knowledge is missing")
        WRONG_RETRIEVAL = "wrong_retrieval", _("Wrong pages found")
        WRONG_ANSWER = "wrong_answer", _("Right pages, wrong answer")
        OUT_OF_SCOPE = "out_of_scope", _("Not for this assistant")
        ABUSE = "abuse", _("Abuse")

    message = models.OneToOneField(Message, on_delete=models.CASCADE, related_name="review")
    assistant = models.ForeignKey(
        Assistant, on_delete=models.SET_NULL, null=True, related_name="reviews", verbose_name=_("assistant")
    )
    language = models.CharField(_("language"), max_length=2, choices=Language, blank=True)
    asked_at = models.DateTimeField(_("asked"))
    reasons = ArrayField(models.CharField(max_length=12, choices=Reason), default=list, verbose_name=_("reasons"))
    state = models.CharField(_("state"), max_length=4, choices=State, default=State.OPEN)
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
    version = models.PositiveIntegerField(default=0)

    objects = OfAssistants.as_manager()

    class Meta:
        verbose_name = _("answer to review")
        verbose_name_plural = _("answers to review")
        ordering = ["-state", "-asked_at", "-pk"]  # to do first
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


class ReviewComment(models.Model):
    """What staff wrote on a review, or (`note`) what happened to it by itself."""

    class Note(models.TextChoices):
        RATED_AGAIN = "rated_again", _("The student rated it again: to do once more.")
        TAKEN_BACK = "taken_back", _("The student took the bad rating back.")

    review = models.ForeignKey(Review, on_delete=models.CASCADE, related_name="comments")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    note = models.CharField(max_length=12, choices=Note, blank=True)
    text = models.TextField(_("comment"), blank=True, max_length=2000)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]
        default_permissions = ()

    def __str__(self) -> str:
        return f"{self.review_id}: {self.pk}"


class ReviewReader(models.Model):
    """Who has a review open, and when their page last said so."""

    review = models.ForeignKey(Review, on_delete=models.CASCADE, related_name="readers")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    seen_at = models.DateTimeField()

    class Meta:
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["review", "user"], name="one_reader_a_review_and_user")]

    def __str__(self) -> str:
        return f"{self.review_id}: {self.user_id}"


class ReviewFeed(models.Model):
    """How far the answers, or the ratings, have been looked through; `until` is a time of theirs."""

    name = models.CharField(max_length=12, unique=True)
    until = models.DateTimeField()
    looked_at = models.DateTimeField(auto_now=True)

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return self.name
