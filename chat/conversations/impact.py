"""Finds what relied on a document that changed since, or is gone: FAQs linked to it and answers that cited it."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import Count, Exists, F, IntegerField, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from chat.models import Citation, Message
from faqs.models import FAQ, FAQSource
from knowledge.models import Document
from knowledge.models.documents import DocumentQuerySet

#: Answers older than this are nobody's current advice.
RECENT = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class Impact:
    """FAQs and answers that a document's last change may have made wrong."""

    faqs: QuerySet[FAQ]
    answers: QuerySet[Message]


def stale_documents() -> DocumentQuerySet:
    """Documents with something that relied on them before they last changed, the latest change first.

    Each has `faq_count` and `answer_count`.
    """
    altered = (
        Document.objects.of_university()
        .filter(altered_at__isnull=False)
        .filter(Q(checked_at__isnull=True) | Q(checked_at__lt=F("altered_at")))
    )
    sources = _sources(OuterRef("pk"), OuterRef("altered_at"))
    citations = _citations(OuterRef("pk"), OuterRef("altered_at"))
    return (
        altered.filter(Exists(sources) | Exists(citations))
        .annotate(faq_count=_count(sources, "faq"), answer_count=_count(citations, "message"))
        .select_related("collection")
        .defer("text")
        .order_by("-altered_at", "pk")
    )


def find_impact(document: Document) -> Impact:
    """Return what relied on it; empty if it never changed, or staff have checked since."""
    if document.altered_at is None or (document.checked_at and document.checked_at >= document.altered_at):
        return Impact(FAQ.objects.none(), Message.objects.none())
    sources = _sources(document.pk, document.altered_at)
    citations = _citations(document.pk, document.altered_at)
    return Impact(
        FAQ.objects.filter(pk__in=sources.values("faq")).order_by("question", "pk"),
        Message.objects.filter(pk__in=citations.values("message"))
        .select_related("question", "conversation")
        .order_by("-created_at", "-pk"),
    )


@transaction.atomic
def mark_verified(*, document: Document) -> None:
    """Somebody looked: what relied on the document is right with it as it is now."""
    now = timezone.now()
    Document.objects.filter(pk=document.pk).update(checked_at=now)
    FAQSource.objects.filter(document=document.pk).update(verified_at=now)


def _sources(document: Any, altered_at: Any) -> QuerySet[FAQSource]:
    linked = FAQSource.objects.filter(document=document, verified_at__lt=altered_at)
    return linked.exclude(faq__status=FAQ.Status.RETIRED)


def _citations(document: Any, altered_at: Any) -> QuerySet[Citation]:
    recent = timezone.now() - RECENT
    return Citation.objects.filter(
        document=document, message__created_at__gte=recent, message__created_at__lt=altered_at
    )


def _count(rows: QuerySet[FAQSource] | QuerySet[Citation], what: str) -> Coalesce:
    counted = rows.order_by().values("document").annotate(count=Count(what, distinct=True)).values("count")
    return Coalesce(Subquery(counted, output_field=IntegerField()), 0)
