"""Remains of conversations that were deleted, and counts of each night's deletions."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from chat.models import Assistant, Message
from chat.models.assistants import OfAssistants
from faqs.models import FAQ


class AnonymisedQuestion(models.Model):
    """A question whose conversation was deleted: what was asked without what tells who asked (`analytics.privacy`), on
    what day, and what became of it. Nothing ties two of them together."""

    assistant = models.ForeignKey(
        Assistant, on_delete=models.CASCADE, related_name="anonymised_questions", verbose_name=_("assistant")
    )
    day = models.DateField(_("asked"))
    language = models.CharField(_("language"), max_length=2, blank=True)
    text = models.TextField(_("question"))
    status = models.CharField(_("answer"), max_length=12, choices=Message.Status)
    faq = models.ForeignKey(FAQ, on_delete=models.SET_NULL, null=True, related_name="+", verbose_name=_("FAQ"))
    thumbs = models.SmallIntegerField(_("thumbs"), default=0)

    objects = OfAssistants.as_manager()

    class Meta:
        verbose_name = _("anonymised question")
        verbose_name_plural = _("anonymised questions")
        ordering = ["-day", "-pk"]
        default_permissions = ("view",)
        indexes = [models.Index(fields=["-day", "-id"]), models.Index(fields=["assistant", "day"])]

    def __str__(self) -> str:
        return self.text[:80]


class RetentionRun(models.Model):
    """Counts of one night's deletions: `gone` has a row an assistant, with how many of what."""

    began_at = models.DateTimeField(_("begun"), auto_now_add=True)
    finished_at = models.DateTimeField(_("finished"), null=True)
    gone = models.JSONField(default=list)
    visitors = models.PositiveIntegerField(_("visitors"), default=0)
    reports = models.PositiveIntegerField(_("stored reports"), default=0)
    records = models.PositiveIntegerField(_("records of answers"), default=0, db_default=0)

    class Meta:
        verbose_name = _("entry of the retention log")
        verbose_name_plural = _("retention log")
        ordering = ["-pk"]
        default_permissions = ("view",)

    def __str__(self) -> str:
        return f"{self.began_at:%Y-%m-%d}"
