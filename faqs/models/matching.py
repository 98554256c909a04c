"""Matching of a collection's FAQs: what was learned, how good that is, and what staff confirmed."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _
from pgvector.django import HalfVectorField

from core.access import StaffScoped
from faqs.models.faqs import FAQ
from knowledge.models import Collection, Generation


class MatcherQuerySet(StaffScoped["Matcher"]):
    def of_university(self) -> "MatcherQuerySet":
        """Leave out the data sets, which only serve to evaluate."""
        return self.filter(collection__for_evaluation=False)


class Matcher(models.Model):
    """State of the matching of FAQs that lead to a collection's documents; written by `faqs.matching`.

    `edits` counts changes of what a fit is made from. The fit in use serves questions while it was made from the newest
    state, if staff brought it back (`is_pinned`), or while the newest one waits since it would change many answers.
    """

    class Choice(models.TextChoices):
        AUTO = "auto", _("the better way, chosen automatically")
        LEARNED = "learned", _("learned from examples")
        NEAREST = "nearest", _("nearest phrasing")

    collection = models.OneToOneField(
        Collection, on_delete=models.CASCADE, related_name="matcher", verbose_name=_("collection")
    )
    choice = models.CharField(_("how FAQs are matched"), max_length=8, choices=Choice, default=Choice.AUTO)
    edits = models.PositiveBigIntegerField(default=0, editable=False)
    fit = models.ForeignKey(
        "MatcherFit", on_delete=models.SET_NULL, null=True, related_name="+", verbose_name=_("in use"), editable=False
    )
    is_pinned = models.BooleanField(default=False, editable=False)

    objects = MatcherQuerySet.as_manager()

    class Meta:
        verbose_name = _("matching of FAQs")
        verbose_name_plural = _("matching of FAQs")
        ordering = ["collection__slug"]
        default_permissions = ("view", "change")

    def __str__(self) -> str:
        return str(self.collection)


class MatcherFit(models.Model):
    """One fit of a collection's classifier, with the figures of its cross-validation.

    `edits` is the matcher's count when the examples were read. `held_out` is how many ways to ask were held out and
    asked for; of them, `learned_first` and `nearest_first` are the shares whose FAQ came first, `learned_rank` and
    `nearest_rank` the mean reciprocal ranks. They are empty if there was too little to hold out. Of `tried` recent
    questions, `changed` are matched to another FAQ than by the fit that was in use.
    """

    class State(models.TextChoices):
        READY = "ready", _("checked")
        WAITING = "waiting", _("waits for staff")

    class Reason(models.TextChoices):
        BETTER = "better", _("Learned matching finds the right FAQ more often.")
        NOT_BETTER = "not_better", _("Learned matching is no better than the nearest phrasing.")
        TOO_FEW = "too_few", _("Too few FAQs have several phrasings to tell which way is better.")
        WORSE = "worse", _("It finds the right FAQ less often than the fit before it, so it waits for your decision.")
        CHANGES = (
            "changes",
            _("It would match more than a few of the latest questions to another FAQ, so it waits for your decision."),
        )

    matcher = models.ForeignKey(Matcher, on_delete=models.CASCADE, related_name="fits")
    generation = models.ForeignKey(Generation, on_delete=models.CASCADE, related_name="+")
    edits = models.PositiveBigIntegerField()
    fingerprint = models.CharField(max_length=32)
    weights = models.BinaryField()
    faqs = models.PositiveIntegerField(_("FAQs"))
    examples = models.PositiveIntegerField(_("examples"))
    confirmed = models.PositiveIntegerField(_("of them confirmed by staff"))
    held_out = models.PositiveIntegerField(_("held out"), default=0)
    learned_first = models.FloatField(null=True)
    nearest_first = models.FloatField(null=True)
    learned_rank = models.FloatField(null=True)
    nearest_rank = models.FloatField(null=True)
    tried = models.PositiveIntegerField(default=0, db_default=0)
    changed = models.PositiveIntegerField(default=0, db_default=0)
    state = models.CharField(_("state"), max_length=8, choices=State, default=State.READY)
    reason = models.CharField(_("reason"), max_length=12, choices=Reason)
    seconds = models.FloatField()
    made_at = models.DateTimeField(_("made"), auto_now_add=True)

    class Meta:
        verbose_name = _("fit")
        verbose_name_plural = _("fits")
        ordering = ["-pk"]
        default_permissions = ()

    def __str__(self) -> str:
        return f"{self.matcher_id}: {self.pk}"

    @property
    def waits_for_changes(self) -> bool:
        """Return whether staff are to decide about what changes; until then the fit in use goes on."""
        return self.state == self.State.WAITING and self.reason == self.Reason.CHANGES


class ConfirmedQuestion(models.Model):
    """A student's question whose FAQ staff confirmed, or, without an FAQ, of which they said that none is about it.

    It holds a student's words: `analytics.reviews` writes it, and deletes it with the conversation. `collections` are
    those that were searched.
    """

    faq = models.ForeignKey(FAQ, on_delete=models.CASCADE, null=True, related_name="confirmed_questions")
    collections = models.ManyToManyField(Collection, related_name="+")
    text = models.TextField()
    confirmed_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    confirmed_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        """Return no student's words: it may be written to a log."""
        return f"#{self.pk}"


class ConfirmedVector(models.Model):
    """The vector of a confirmed question in one generation; written by `faqs.matching.confirmed`."""

    question = models.ForeignKey(ConfirmedQuestion, on_delete=models.CASCADE, related_name="vectors")
    generation = models.ForeignKey(Generation, on_delete=models.CASCADE, related_name="+")
    embedding = HalfVectorField()

    class Meta:
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(fields=["question", "generation"], name="one_vector_a_question_and_generation")
        ]

    def __str__(self) -> str:
        return f"{self.question_id} in {self.generation_id}"
