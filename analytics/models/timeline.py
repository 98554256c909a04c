"""Dates that staff write on the dashboard's time line, for what the product cannot know."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from chat.models import Assistant
from chat.models.assistants import OfAssistants


class TimelineDate(models.Model):
    """A day with a few words, such as the first one of lectures; without an assistant it is for all."""

    day = models.DateField(_("day"))
    text = models.CharField(_("what happened"), max_length=100, help_text=_("In a few words: Term begins."))
    assistant = models.ForeignKey(
        Assistant,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("assistant"),
        help_text=_("Empty: it is shown with all of them."),
    )

    objects = OfAssistants.as_manager()

    class Meta:
        verbose_name = _("date on the time line")
        verbose_name_plural = _("dates on the time line")
        ordering = ["-day", "pk"]
        indexes = [models.Index(fields=["day"], name="timeline_by_day")]

    def __str__(self) -> str:
        return f"{self.day:%Y-%m-%d}: {self.text}"
