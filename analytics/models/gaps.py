"""Gaps: topics that students asked about without a good answer."""

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from chat.models import Assistant, Message
from chat.models.assistants import Language, OfAssistants
from core.jobs import JobQuerySet, JobState, RequestedJob
from faqs.models import FAQ
from knowledge.models import Document

#: Visitors more or fewer than in the week before from which a topic rises or falls.
NOTABLE = 2


class Gap(models.Model):
    """Questions of one meaning that one assistant left unanswered, or answered badly; it stays the same row from night
    to night (`analytics.gaps.matching`).

    The counts are those of the last run: distinct visitors in all, in the 7 days before it, and in the 7 before
    those. `centroid` is a unit vector as float16 of the model `recipe`, kept for when its questions are deleted.
    `version` counts what staff did to it: who saves with an older one is told first.
    """

    class State(models.TextChoices):
        OPEN = "open", _("open")
        IN_WORK = "in_work", _("in work")
        ANSWERED = "answered", _("answered, watch")
        SOLVED = "solved", _("solved")
        DISMISSED = "dismissed", _("dismissed")

    class Unanswered(models.TextChoices):
        """Why it was not answered when it was asked again."""

        UNCHANGED = "unchanged", _("nothing was published or changed since somebody asked it in vain")
        NOTHING_FOUND = "nothing", _("the assistant finds nothing that is close enough to most of its questions")
        NOT_BY_CHANGE = "not_by_change", _("the assistant answers from pages that were there before")
        OTHER_MATTER = (
            "other_matter",
            _("the assistant finds only texts without the words that its questions are about"),
        )

    class NamedBy(models.TextChoices):
        QUESTION = "question", _("its most central question")
        MODEL = "model", _("the language model")
        STAFF = "staff", _("staff")

    name = models.CharField(_("name"), max_length=200, blank=True)
    named_by = models.CharField(max_length=12, choices=NamedBy, default=NamedBy.QUESTION, editable=False)
    assistant = models.ForeignKey(
        Assistant, on_delete=models.SET_NULL, null=True, related_name="gaps", verbose_name=_("assistant")
    )
    language = models.CharField(_("language"), max_length=2, choices=Language, default=Language.ENGLISH)
    state = models.CharField(_("state"), max_length=12, choices=State, default=State.OPEN)
    state_at = models.DateTimeField(default=timezone.now, editable=False)
    assigned_to = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="gaps",
        verbose_name=_("assigned to"),
    )
    due_on = models.DateField(_("due"), null=True, blank=True)
    version = models.PositiveIntegerField(default=0)
    # When its version was last counted up, and by whom; nobody: by itself.
    changed_at = models.DateTimeField(null=True, editable=False)
    changed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, editable=False, related_name="+"
    )
    weight = models.FloatField(_("priority"), default=0)
    visitors = models.PositiveIntegerField(_("visitors"), default=0)
    this_week = models.PositiveIntegerField(default=0)
    week_before = models.PositiveIntegerField(default=0)
    question_count = models.PositiveIntegerField(_("questions"), default=0)
    first_asked = models.DateTimeField(_("first asked"))
    last_asked = models.DateTimeField(_("last asked"))
    # When the FAQ or document that covers it was changed, and which one it is.
    answered_since = models.DateTimeField(_("answered since"), null=True)
    answered_by_faq = models.ForeignKey(FAQ, on_delete=models.SET_NULL, null=True, related_name="+")
    answered_by_document = models.ForeignKey(Document, on_delete=models.SET_NULL, null=True, related_name="+")
    asked_again_at = models.DateTimeField(null=True, editable=False)
    unanswered_because = models.CharField(
        max_length=16, choices=Unanswered, default="", db_default="", blank=True, editable=False
    )
    faq = models.ForeignKey(FAQ, on_delete=models.SET_NULL, null=True, related_name="gaps", verbose_name=_("FAQ"))
    merged_into = models.ForeignKey("self", on_delete=models.SET_NULL, null=True, related_name="merged")
    split_from = models.ForeignKey("self", on_delete=models.SET_NULL, null=True, related_name="split")
    centroid = models.BinaryField()
    recipe = models.CharField(max_length=32)
    created_at = models.DateTimeField(_("found"), auto_now_add=True)

    objects = OfAssistants.as_manager()

    class Meta:
        verbose_name = _("unanswered topic")
        verbose_name_plural = _("unanswered topics")
        ordering = ["-weight", "pk"]
        default_permissions = ("view", "change")
        indexes = [models.Index(fields=["state", "-weight"]), models.Index(fields=["-weight", "id"])]

    def __str__(self) -> str:
        """Return what goes into the audit log, which outlives the question that a gap is named after."""
        return f"#{self.pk}"

    @property
    def trend(self) -> str:
        """Return “rising” or “falling” against the week before; one visitor more or fewer is neither."""
        more = self.this_week - self.week_before
        return "" if abs(more) < NOTABLE else "rising" if more > 0 else "falling"

    @property
    def title(self) -> str:
        """Return the name that staff read."""
        return self.name or gettext("Questions that were deleted")


class GapQuestion(models.Model):
    """A question that was answered badly or not at all, with its unit vector as float16 of the model `recipe`.

    Nothing searches by the vector in the database, and 10,000 of them are read at once: bytes are read fastest.
    `centrality` is its cosine to the middle of its gap.
    """

    message = models.OneToOneField(Message, on_delete=models.CASCADE, related_name="gap_question")
    gap = models.ForeignKey(Gap, on_delete=models.SET_NULL, null=True, related_name="questions")
    language = models.CharField(_("language"), max_length=2, choices=Language)
    embedding = models.BinaryField()
    recipe = models.CharField(max_length=32)
    centrality = models.FloatField(default=0)

    class Meta:
        default_permissions = ()
        indexes = [models.Index(fields=["gap", "-centrality"])]

    def __str__(self) -> str:
        return f"{self.gap_id}: {self.message_id}"


class GapRun(RequestedJob):
    """One gap-detection run, at night or when staff asked for it."""

    TASK = "analytics.tasks.find_gaps"
    State = JobState

    found = models.PositiveIntegerField(default=0)

    objects = JobQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(
                models.Value(1), condition=models.Q(state__in=("queued", "running")), name="one_look_at_a_time"
            )
        ]

    def __str__(self) -> str:
        return f"{self.pk}: {self.state}"
