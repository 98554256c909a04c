"""The nightly random sample of real answers, staff's verdicts on them, and drops of quality that these show."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from chat.models import Assistant, Message
from chat.models.assistants import OfAssistants


class SampledAnswer(models.Model):
    """One answer of a night's sample (`analytics.quality.sampling`), apart from what is reviewed for other reasons.

    What figures need stands here and outlives the conversation: the assistant, the day, the evidence (None: no
    threshold holds the answer back), the `threshold` of then, and whether there was an answer or an abstention; never a
    word. `is_newcomer` marks the first of a visitor in a week, so that people are counted without knowing them.
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


class SampleVerdict(models.Model):
    """What one member of staff found of a sampled answer, without having seen what another one did."""

    class Verdict(models.TextChoices):
        """Those of a review that say the same have the same name."""

        RIGHT = "correct_answer", _("Right")
        WRONG = "wrong_answer", _("Wrong")
        SHOULD_ABSTAIN = "should_abstain", _("Should not have answered")
        RIGHTLY_ABSTAINED = "correct_abstention", _("Right not to answer")
        SHOULD_ANSWER = "missing_knowledge", _("Should have answered")

    answer = models.ForeignKey(SampledAnswer, on_delete=models.CASCADE, related_name="verdicts")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    verdict = models.CharField(_("verdict"), max_length=20, choices=Verdict)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["answer", "by"], name="one_verdict_a_member_and_answer")]

    def __str__(self) -> str:
        return f"{self.answer_id}: {self.verdict}"


class QualityDrop(models.Model):
    """Fewer of an assistant's sampled answers are right than before (`analytics.quality.drops`), until it `ended_at`.

    `share` and `share_before` are those of the day on which it was noticed, from 0 to 1.
    """

    assistant = models.ForeignKey(Assistant, on_delete=models.CASCADE, related_name="quality_drops")
    share = models.FloatField()
    share_before = models.FloatField()
    first_day = models.DateField()
    noticed_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True)

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
