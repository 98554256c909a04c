"""Finds FAQs linked to a document that is not as it was then, or is gone, and answers that cited it."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import Count, Exists, IntegerField, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from chat.models import Citation, Message
from faqs.models import FAQ, FAQSource
from knowledge.models import Document, changed_since
from knowledge.models.documents import DocumentQuerySet

#: Answers older than this are nobody's current advice.
RECENT = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class Impact:
    """FAQs and answers that a document's last change may have made wrong."""

    faqs: QuerySet[FAQ]
    answers: QuerySet[Message]


def stale_documents() -> DocumentQuerySet:
    """Documents with something that relied on them as they no longer are, the latest change first.

    Each has `faq_count` and `answer_count`.
    """
    altered = (
        Document.objects.of_university()
        .filter(altered_at__isnull=False)
        .filter(Q(checked_at__isnull=True) | changed_since("checked_at"))
    )
    sources, citations = _sources(OuterRef("pk")), _citations(OuterRef("pk"))
    return (
        altered.filter(Exists(sources) | Exists(citations))
        .annotate(faq_count=_count(sources, "faq"), answer_count=_count(citations, "message"))
        .select_related("collection")
        .defer("text")
        .order_by("-altered_at", "pk")
    )


def find_impact(document: Document) -> Impact:
    """Return what relied on it; empty if it never changed, or is as it was when staff checked it."""
    if document.checked_at and not Document.objects.filter(changed_since("checked_at"), pk=document.pk).exists():
        return Impact(FAQ.objects.none(), Message.objects.none())
    sources, citations = _sources(document.pk), _citations(document.pk)
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


def _sources(document: Any) -> QuerySet[FAQSource]:
    linked = FAQSource.objects.filter(changed_since("verified_at", "document__"), document=document)
    return linked.exclude(faq__status=FAQ.Status.RETIRED)


def _citations(document: Any) -> QuerySet[Citation]:
    altered = changed_since("message__created_at", "document__")
    return Citation.objects.filter(altered, document=document, message__created_at__gte=timezone.now() - RECENT)


def _count(rows: QuerySet[FAQSource] | QuerySet[Citation], what: str) -> Coalesce:
    counted = rows.order_by().values("document").annotate(count=Count(what, distinct=True)).values("count")
    return Coalesce(Subquery(counted, output_field=IntegerField()), 0)
