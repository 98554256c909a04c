"""Bulk save of FAQs with their parts, in a number of statements that grows with batches, not with FAQs."""

from collections.abc import Sequence
from typing import Any

from django.utils import timezone

from faqs.models import ANSWER_FIELDS, FAQ, FAQSource, Phrasing

BATCH = 500
FIELDS = [
    "external_id",
    "question",
    "category",
    "collection",
    "translation_of",
    "language",
    "status",
    "valid_from",
    "valid_until",
    "reference_answer",
    *ANSWER_FIELDS,
    "updated_at",
    "reviewed_at",
]


def bulk_save(new: Sequence[Any], changed: Sequence[Any]) -> None:
    """Save planned FAQs of `faqs.importexport.resource`, which have `phrasing_texts` and `source_documents`."""
    now = timezone.now()
    for category in {id(faq.category): faq.category for faq in (*new, *changed) if faq.category}.values():
        if category.pk is None:
            category.save()
    for faq in (*new, *changed):
        faq.reviewed_at, faq.category = now, faq.category
    # Originals first: their translations name them.
    for each in ([faq for faq in new if not faq.translation_of], [faq for faq in new if faq.translation_of]):
        for faq in each:
            faq.translation_of = faq.translation_of
        FAQ.objects.bulk_create(each, batch_size=BATCH)
    for faq in changed:
        faq.translation_of = faq.translation_of
    FAQ.objects.bulk_create(
        changed, batch_size=BATCH, update_conflicts=True, unique_fields=["id"], update_fields=FIELDS
    )
    _write_phrasings(new, changed)
    _write_sources(new, changed)


def _write_phrasings(new: Sequence[Any], changed: Sequence[Any]) -> None:
    gone = [each.pk for faq in changed for each in faq.phrasings.all() if each.text not in set(faq.phrasing_texts)]
    Phrasing.objects.filter(pk__in=gone).delete()
    there = {(faq.pk, each.text) for faq in changed for each in faq.phrasings.all()}
    Phrasing.objects.bulk_create(
        (
            Phrasing(faq_id=faq.pk, text=text)
            for faq in (*new, *changed)
            for text in faq.phrasing_texts
            if (faq.pk, text) not in there
        ),
        batch_size=BATCH,
    )


def _write_sources(new: Sequence[Any], changed: Sequence[Any]) -> None:
    gone = [each.pk for faq in changed for each in faq.sources.all() if each.document not in set(faq.source_documents)]
    FAQSource.objects.filter(pk__in=gone).delete()
    FAQSource.objects.bulk_create(
        (
            FAQSource(faq_id=faq.pk, document=document, position=position)
            for faq in (*new, *changed)
            for position, document in enumerate(dict.fromkeys(faq.source_documents))
        ),
        batch_size=BATCH,
        update_conflicts=True,
        unique_fields=["faq", "document"],
        update_fields=["position"],
    )
