"""Sentences of the language model that were not shown as written, and whether staff find that right."""

from typing import Self

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.translation import gettext_lazy as _

from chat.models.assistants import Assistant, Language, OfAssistants
from chat.models.conversations import Message, Staff, may_read_help
from chat.protocol.answer_events import Outcome as Instead
from knowledge.models import Document


class HeldBackQuerySet(OfAssistants["HeldBackSentence"]):
    def readable_by(self, user: Staff) -> Self:
        """Exclude those of cries for help unless this member of staff has the permission to read them."""
        return self if may_read_help(user) else self.exclude(message__route__in=Message.HELP_ROUTES)


class HeldBackSentence(models.Model):
    """A sentence that the language model wrote and no page proved; `n` is its place among those of the answer.

    `reasons` are the kinds of doubt, and `parts` the words that raised them, in the same order. `page_words` are what
    the sentence was compared with; `outcome` tells whether they stand in the answer. What the list filters by stands
    here again, so that many are listed without reading their messages. Only staff read it, and it is deleted with the
    answer. `version` counts the judgements: who judges with an older one is told first.
    """

    class Reason(models.TextChoices):
        FIGURE = "figure", _("Figure")
        DATE = "date", _("Date")
        POLARITY = "polarity", _("Yes or no")
        BOUND = "bound", _("Limit")
        MODALITY = "modality", _("Must, may, need not")
        CONDITION = "condition", _("Condition")
        SUBJECT = "subject", _("About something else")
        QUANTIFIER = "quantifier", _("All, some, only")
        NAME = "name", _("Name")
        ADDRESS = "address", _("Address")
        INVENTED = "invented", _("Not on the page")
        DECISION = "decision", _("Decision on a person")
        QUESTION = "question", _("A question")
        TOO_LONG = "too_long", _("Too long")
        UNALIGNED = "unaligned", _("No sentence like it")
        UNCLEAR = "unclear", _("Not sure enough")
        LINK = "link", _("Unknown link")
        CONTACT = "contact", _("Unknown contact")
        MARKUP = "markup", _("Markup or code")
        SYSTEM_PROMPT = "system_prompt", _("Instructions of the model")

    class Outcome(models.TextChoices):
        QUOTED = Instead.QUOTED.value, _("the page’s words were shown")
        REPEATED = Instead.REPEATED.value, _("the page’s words stood there already")
        LEFT_OUT = Instead.LEFT_OUT.value, _("nothing was shown")

    class Verdict(models.TextChoices):
        RIGHTLY = "rightly", _("Right not to show")
        WRONGLY = "wrongly", _("Was right")

    message = models.ForeignKey(Message, on_delete=models.CASCADE, related_name="held_back")
    n = models.PositiveIntegerField()
    assistant = models.ForeignKey(
        Assistant, on_delete=models.SET_NULL, null=True, related_name="held_back", verbose_name=_("assistant")
    )
    language = models.CharField(_("language"), max_length=2, choices=Language, blank=True)
    text = models.TextField(_("sentence"))
    reasons = ArrayField(models.CharField(max_length=30, choices=Reason), verbose_name=_("reasons"))
    parts = ArrayField(models.TextField(blank=True))
    outcome = models.CharField(_("shown instead"), max_length=8, choices=Outcome)
    page_words = models.TextField(_("the page’s words"), blank=True)
    document = models.ForeignKey(Document, on_delete=models.SET_NULL, null=True, related_name="+")
    title = models.TextField(blank=True)
    url = models.TextField(blank=True)
    heading = models.TextField(blank=True)
    page = models.PositiveIntegerField(null=True)
    verdict = models.CharField(_("judgement"), max_length=7, choices=Verdict, blank=True)
    judged_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+", verbose_name=_("judged by")
    )
    judged_at = models.DateTimeField(_("judged at"), null=True)
    version = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(_("time"), auto_now_add=True)

    objects = HeldBackQuerySet.as_manager()

    class Meta:
        verbose_name = _("sentence not shown to students")
        verbose_name_plural = _("sentences not shown to students")
        ordering = ["-created_at", "pk"]  # in an answer as they stood there
        default_permissions = ("view", "change")
        indexes = [
            models.Index(fields=["-created_at", "id"]),
            models.Index(fields=["assistant", "-created_at"]),
        ]
        constraints = [models.UniqueConstraint(fields=["message", "n"], name="one_held_back_a_place")]

    def __str__(self) -> str:
        """Return what goes into the audit log, which outlives the conversation."""
        return f"#{self.pk}"
