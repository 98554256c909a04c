"""Counts by day of questions and answers: kept when the conversations themselves are deleted."""

from django.contrib.postgres.fields import ArrayField
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from analytics.histograms import BINS
from chat.models import Assistant, Experiment, Feedback, Message, Office, Site
from chat.models.assistants import OfAssistants
from chat.models.experiments import Arm
from faqs.models import FAQ
from knowledge.models import Document

HOURS = 24


def no_hours() -> list[int]:
    return [0] * HOURS


def no_times() -> list[int]:
    return [0] * BINS


def no_reasons() -> list[int]:
    return [0] * len(Feedback.Reason.values)


class Spanned(models.Model):
    """One day (or month) of one assistant on one site in one language; the local day of TIME_ZONE.

    A month's row is the sum of its days' rows: long periods read months, and days at both ends.
    """

    class Span(models.TextChoices):
        DAY = "day"
        MONTH = "month"

    span = models.CharField(max_length=5, choices=Span)
    day = models.DateField()  # a month's first
    assistant = models.ForeignKey(Assistant, on_delete=models.SET_NULL, null=True, related_name="+")
    site = models.ForeignKey(Site, on_delete=models.SET_NULL, null=True, related_name="+")
    language = models.CharField(max_length=2, blank=True)

    objects = OfAssistants.as_manager()

    class Meta:
        abstract = True
        default_permissions = ()
        indexes = [models.Index(fields=["span", "day"])]

    def __str__(self) -> str:
        return f"{self.span} {self.day}"


class Counted(Spanned):
    """A day (or month) with the people of that day. `visitors` are counted once a day, so that their sum over days
    counts somebody who comes back on another day again.

    How many different people there are at least is said by two more. `newcomers` asked on the day on which they agreed,
    each counted in the one row of their first question (answer of this FAQ, answer that cites this document): whatever
    days and rows are added up, they are as many different people. `busiest` is the most visitors of one day of the
    row; a month has the most of its days.
    """

    visitors = models.PositiveIntegerField(default=0)
    newcomers = models.PositiveIntegerField(default=0)
    busiest = models.PositiveIntegerField(default=0)

    class Meta(Spanned.Meta):
        abstract = True


class UsageCount(Counted):
    """Questions by what became of them. `conversations` are those begun, and `stars` the sum of their `ratings`;
    `reasons` are in the order of `Feedback.Reason`; times in the bins of `analytics.histograms`. Newcomers by hour are
    those whose first question was asked then; by reason, those who gave it for an answer of their first day. Sentences
    are those that the language model wrote, and `held_back_*` what staff found of those that were not shown.
    `confirmed` to `abandoned` count the conversations begun, by what became of them (`counts.outcomes`). `contact_*`
    count answers and abstentions from which students went to such a contact."""

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
    sentences_shown = models.PositiveIntegerField(default=0)
    sentences_quoted = models.PositiveIntegerField(default=0)
    sentences_left_out = models.PositiveIntegerField(default=0)
    held_back_rightly = models.PositiveIntegerField(default=0)
    held_back_wrongly = models.PositiveIntegerField(default=0)
    confirmed = models.PositiveIntegerField(default=0)
    silent = models.PositiveIntegerField(default=0)
    rephrased = models.PositiveIntegerField(default=0)
    disliked = models.PositiveIntegerField(default=0)
    unanswered = models.PositiveIntegerField(default=0)
    handed_over = models.PositiveIntegerField(default=0)
    abandoned = models.PositiveIntegerField(default=0)
    contact_email = models.PositiveIntegerField(default=0, db_default=0)
    contact_phone = models.PositiveIntegerField(default=0, db_default=0)
    contact_page = models.PositiveIntegerField(default=0, db_default=0)
    reasons = ArrayField(models.PositiveIntegerField(), default=no_reasons)
    newcomers_by_reason = ArrayField(models.PositiveIntegerField(), default=no_reasons)
    hours = ArrayField(models.PositiveIntegerField(), default=no_hours)
    newcomers_by_hour = ArrayField(models.PositiveIntegerField(), default=no_hours)
    first_token = ArrayField(models.PositiveIntegerField(), default=no_times)
    total = ArrayField(models.PositiveIntegerField(), default=no_times)

    class Meta(Counted.Meta):
        permissions = [
            ("view_dashboard", _("Can see the dashboard")),
            ("see_small_groups", _("Can see figures of very few people, which are hidden from others")),
            ("see_personal_text", _("Can see what students wrote, unmasked")),
        ]


class DocumentCount(Counted):
    """Answers that cited a document."""

    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="+")
    answers = models.PositiveIntegerField(default=0)


class FAQCount(Counted):
    """Answers that an FAQ steered; `newcomers_up` and `newcomers_down` are those who rated one of their first day."""

    faq = models.ForeignKey(FAQ, on_delete=models.CASCADE, related_name="+")
    answers = models.PositiveIntegerField(default=0)
    thumbs_up = models.PositiveIntegerField(default=0)
    thumbs_down = models.PositiveIntegerField(default=0)
    newcomers_up = models.PositiveIntegerField(default=0)
    newcomers_down = models.PositiveIntegerField(default=0)


class CaseCount(Spanned):
    """Questions that were left with an office on a day, whatever day they were replied to on.

    `said` are the students who said whether it helped. Waits from the question on are in the bins of
    `analytics.histograms`, the first of which is a minute (`counts.cases`).
    """

    office = models.ForeignKey(Office, on_delete=models.SET_NULL, null=True, related_name="+")
    opened = models.PositiveIntegerField(default=0)
    said = models.PositiveIntegerField(default=0)
    helped = models.PositiveIntegerField(default=0)
    until_reply = ArrayField(models.PositiveIntegerField(), default=no_times)
    until_closed = ArrayField(models.PositiveIntegerField(), default=no_times)


class Rephrasing(models.Model):
    """A question that asks the one before it, `of`, again in other words (`analytics.counts.rephrasing`)."""

    message = models.OneToOneField(Message, on_delete=models.CASCADE, related_name="+")
    of = models.ForeignKey(Message, on_delete=models.CASCADE, related_name="+")

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return f"{self.message_id}: {self.of_id}"


class Assumptions(models.Model):
    """What the dashboard takes for granted to say what the answers saved and cost; one row.

    Prices are for a million tokens; at 0 no costs are shown.
    """

    minutes = models.DecimalField(
        _("minutes that staff would need for a question"),
        max_digits=5,
        decimal_places=1,
        default=5,
        validators=[MinValueValidator(0), MaxValueValidator(480)],
        help_text=_("Counted once for each conversation that was resolved."),
    )
    read_price = models.DecimalField(
        _("price of a million tokens read"),
        max_digits=10,
        decimal_places=4,
        default=0,
        validators=[MinValueValidator(0)],
        help_text=_("As on the bill of your language model; 0 where it runs on machines of your own."),
    )
    written_price = models.DecimalField(
        _("price of a million tokens written"),
        max_digits=10,
        decimal_places=4,
        default=0,
        validators=[MinValueValidator(0)],
    )
    currency = models.CharField(_("currency"), max_length=3, default="EUR", validators=[RegexValidator("^[A-Z]{3}$")])

    class Meta:
        verbose_name = _("assumptions of the dashboard")
        verbose_name_plural = _("assumptions of the dashboard")
        default_permissions = ("view", "change")
        constraints = [models.CheckConstraint(condition=models.Q(pk=1), name="assumptions_are_one_row")]

    def __str__(self) -> str:
        return str(_("assumptions of the dashboard"))


class ExperimentCount(models.Model):
    """Conversations of an arm that began on a day, once they were settled; never changed after that.

    `newcomers` are people who agreed on that day, as in `UsageCount`. `abstained`, `disliked` and `failed` count
    conversations with at least one such answer.
    """

    experiment = models.ForeignKey(Experiment, on_delete=models.CASCADE, related_name="counts")
    day = models.DateField()
    arm = models.CharField(max_length=5, choices=Arm)
    conversations = models.PositiveIntegerField(default=0)
    newcomers = models.PositiveIntegerField(default=0)
    helped = models.PositiveIntegerField(default=0)
    answered = models.PositiveIntegerField(default=0)
    abstained = models.PositiveIntegerField(default=0)
    disliked = models.PositiveIntegerField(default=0)
    failed = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["day", "arm"]
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(fields=["experiment", "day", "arm"], name="one_count_a_day_and_arm"),
        ]

    def __str__(self) -> str:
        return f"{self.experiment_id}: {self.day} {self.arm}"


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
