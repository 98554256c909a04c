"""What was asked and how it was answered, counted by day: kept when the conversations themselves are deleted."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.translation import gettext_lazy as _

from analytics.histograms import BINS
from chat.models import Assistant, Site
from chat.querysets import OfAssistants
from faqs.models import FAQ
from knowledge.models import Document

HOURS = 24


def no_hours() -> list[int]:
    return [0] * HOURS


def no_times() -> list[int]:
    return [0] * BINS


class Counted(models.Model):
    """One day (or month) of one assistant on one site in one language; the local day of TIME_ZONE.

    A month's row is the sum of its days' rows: long periods read months, and days at both ends. `visitors` are counted
    once a day, so that their sum over days counts somebody who comes back on another day again.
    """

    class Span(models.TextChoices):
        DAY = "day"
        MONTH = "month"

    span = models.CharField(max_length=5, choices=Span)
    day = models.DateField()  # a month's first
    assistant = models.ForeignKey(Assistant, on_delete=models.SET_NULL, null=True, related_name="+")
    site = models.ForeignKey(Site, on_delete=models.SET_NULL, null=True, related_name="+")
    language = models.CharField(max_length=2, blank=True)
    visitors = models.PositiveIntegerField(default=0)

    objects = OfAssistants.as_manager()

    class Meta:
        abstract = True
        default_permissions = ()
        indexes = [models.Index(fields=["span", "day"])]

    def __str__(self) -> str:
        return f"{self.span} {self.day}"


class UsageCount(Counted):
    """Questions by what became of them. `conversations` are those begun, and `stars` the sum of their `ratings`;
    `reasons` are in the order of `Feedback.Reason`; times in the bins of `analytics.histograms`."""

    conversations = models.PositiveIntegerField(default=0)
    messages = models.PositiveIntegerField(default=0)
    questions = models.PositiveIntegerField(default=0)
    answered = models.PositiveIntegerField(default=0)
    abstained = models.PositiveIntegerField(default=0)
    failed = models.PositiveIntegerField(default=0)
    stopped = models.PositiveIntegerField(default=0)
    asked_back = models.PositiveIntegerField(default=0)
    thumbs_up = models.PositiveIntegerField(default=0)
    thumbs_down = models.PositiveIntegerField(default=0)
    ratings = models.PositiveIntegerField(default=0)
    stars = models.PositiveIntegerField(default=0)
    prompt_tokens = models.PositiveBigIntegerField(default=0)
    answer_tokens = models.PositiveBigIntegerField(default=0)
    reasons = ArrayField(models.PositiveIntegerField())
    hours = ArrayField(models.PositiveIntegerField(), default=no_hours)
    first_token = ArrayField(models.PositiveIntegerField(), default=no_times)
    total = ArrayField(models.PositiveIntegerField(), default=no_times)

    class Meta(Counted.Meta):
        permissions = [
            ("view_dashboard", "Can see the dashboard"),
            ("see_small_groups", "Can see figures of fewer people than SMALLEST_GROUP"),
            ("see_personal_text", "Can see what students wrote, unmasked"),
        ]


class DocumentCount(Counted):
    """Answers that cited a document."""

    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="+")
    answers = models.PositiveIntegerField(default=0)


class FAQCount(Counted):
    """Answers that an FAQ steered."""

    faq = models.ForeignKey(FAQ, on_delete=models.CASCADE, related_name="+")
    answers = models.PositiveIntegerField(default=0)
    thumbs_up = models.PositiveIntegerField(default=0)
    thumbs_down = models.PositiveIntegerField(default=0)


class ChangedDay(models.Model):
    """A day (in UTC) on which a row of a conversation was made, changed or deleted since it was counted; written by
    triggers, one row a statement, so that nobody who writes waits for who counts."""

    day = models.DateField(verbose_name=_("day"))

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return str(self.day)


class FrozenCounts(models.Model):
    """Days of an assistant whose conversations may be deleted by now: their counts stay as they are."""

    assistant = models.OneToOneField(Assistant, on_delete=models.CASCADE, null=True, related_name="+")
    before = models.DateField()

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return f"{self.assistant_id}: {self.before}"
