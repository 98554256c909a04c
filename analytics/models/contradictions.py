"""Contradictions: two statements of pages or FAQs about one matter that do not agree."""

from typing import TYPE_CHECKING, Self

from django.conf import settings
from django.db import models
from django.db.models import Count, IntegerField, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from chat.conversations.impact import RECENT
from chat.models import Citation
from core.access import StaffScoped, sees_everything
from faqs.models import FAQ
from knowledge.models import Document

if TYPE_CHECKING:
    from core.access import Staff


#: The `ReviewFeed` that says until when changes were compared.
FEED = "contradicted"


def count_recent_answers(of: Q) -> Coalesce:
    """Return an expression: how many recent answers have a citation `of` the row."""
    cited = Citation.objects.filter(of, message__created_at__gte=timezone.now() - RECENT)
    counted = cited.order_by().annotate(one=models.Value(1)).values("one").annotate(n=Count("message", distinct=True))
    return Coalesce(Subquery(counted.values("n"), output_field=IntegerField()), 0)


class ContradictionQuerySet(StaffScoped["Contradiction"]):
    def visible_to(self, user: "Staff") -> Self:
        """Return those of whose two sides this member of staff looks after both."""
        if sees_everything(user):
            return self
        documents, faqs = Document.objects.visible_to(user).values("pk"), FAQ.objects.visible_to(user).values("pk")
        first = Q(first_document__in=documents) | Q(first_faq__in=faqs)
        return self.filter(first, Q(second_document__in=documents) | Q(second_faq__in=faqs))

    def open(self) -> Self:
        return self.filter(state=self.model.State.OPEN)

    def of(self, *, documents: "list[int]", faqs: "list[int]") -> Self:
        """Return those of which one side is one of these."""
        sides = Q(first_document__in=documents) | Q(second_document__in=documents)
        return self.filter(sides | Q(first_faq__in=faqs) | Q(second_faq__in=faqs))

    def with_touched(self) -> Self:
        """Annotate `touched`: how many recent answers cited one of the two pages."""
        sides = Q(document=OuterRef("first_document")) | Q(document=OuterRef("second_document"))
        return self.annotate(touched=count_recent_answers(sides))

    def for_list(self) -> Self:
        """Return what the list shows, those first that the most recent answers cited."""
        sides = ("first_document", "second_document")
        return (
            self.with_touched()
            .select_related(*sides, *(f"{side}__answer_page__faq" for side in sides), "first_faq", "second_faq")
            .defer(*(f"{side}__text" for side in sides))
            .order_by("-touched", "-score", "pk")
        )


class Contradiction(models.Model):
    """Two statements, each of a page or of an FAQ's key points; an answer of staff's own is a page here too.

    `fingerprint` is of both sides and both statements: once one of them changes, it is another contradiction, and what
    staff said of the former one no longer holds.
    """

    class Kind(models.TextChoices):
        FIGURE = "figure", _("different figures")
        DATE = "date", _("different dates or times")
        POLARITY = "polarity", _("yes and no")
        BOUND = "bound", _("different limits or orders")
        MODALITY = "modality", _("must, may and need not")
        QUANTITY = "quantity", _("all, some and none")

    class State(models.TextChoices):
        OPEN = "open", _("open")
        DISMISSED = "dismissed", _("no contradiction")
        GONE = "gone", _("settled")

    kind = models.CharField(_("kind"), max_length=12, choices=Kind)
    state = models.CharField(_("state"), max_length=12, choices=State, default=State.OPEN)
    first_document = models.ForeignKey(Document, on_delete=models.CASCADE, null=True, related_name="+")
    first_faq = models.ForeignKey(FAQ, on_delete=models.CASCADE, null=True, related_name="+")
    first_heading = models.TextField(blank=True)
    first_text = models.TextField()
    first_words = models.TextField(blank=True)  # what of it differs
    second_document = models.ForeignKey(Document, on_delete=models.CASCADE, null=True, related_name="+")
    second_faq = models.ForeignKey(FAQ, on_delete=models.CASCADE, null=True, related_name="+")
    second_heading = models.TextField(blank=True)
    second_text = models.TextField()
    second_words = models.TextField(blank=True)
    score = models.FloatField()  # how much of the two is the same, 0 to 1
    fingerprint = models.CharField(max_length=32, unique=True)
    found_at = models.DateTimeField(_("found"), auto_now_add=True)
    state_at = models.DateTimeField(default=timezone.now)
    # Kept when it is settled: once both say the same again, it is still dismissed.
    dismissed_at = models.DateTimeField(null=True)
    dismissed_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")

    objects = ContradictionQuerySet.as_manager()

    class Meta:
        verbose_name = _("contradiction")
        verbose_name_plural = _("contradictions")
        ordering = ["-score", "pk"]
        default_permissions = ()
        indexes = [models.Index(fields=["state", "kind"])]
        constraints = [
            models.CheckConstraint(
                condition=(Q(first_document=None) ^ Q(first_faq=None)) & (Q(second_document=None) ^ Q(second_faq=None)),
                name="contradiction_of_two_sides",
            )
        ]

    def __str__(self) -> str:
        """Return what goes into the audit log."""
        return f"#{self.pk}"


class StatementWords(models.Model):
    """How often each word stands in the statements that the last night compared; an edit weighs words by it.

    One row. `words` has the words of more than one of the `statements`.
    """

    statements = models.PositiveIntegerField()
    words = models.JSONField()

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return f"{self.statements}"
