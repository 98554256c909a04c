"""Chooses which of staff's own answers a student gets whose question means an FAQ."""

import datetime
from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Q
from django.utils import timezone

from core.db.prepared import fetch_all
from faqs.models import FAQ, AnswerPage, FAQSource
from knowledge.models import Passage
from knowledge.retrieval.scope import IN_SCOPE, scope_parameters
from knowledge.retrieval.types import Scope

#: Made of the code's own parts.
ALLOWED = f"""
SELECT document.id FROM knowledge_document AS document WHERE document.id = ANY(%(ids)s::bigint[]) AND {IN_SCOPE}
"""  # noqa: S608


@dataclass(frozen=True, slots=True)
class ChosenAnswer:
    """An answer in staff's own words, with its page; `documents` are all pages that hold it, in any language.

    `linked` are the documents that staff linked with the FAQ or with a translation of it.
    `passage_id` is the page's first passage; 0 until it is indexed.
    """

    faq_id: int
    document_id: int
    passage_id: int
    title: str
    url: str
    text: str
    language: str
    office: str
    checked_on: datetime.date
    documents: frozenset[int]
    linked: frozenset[int]


def list_family(faq_id: int) -> frozenset[int]:
    """Return the ids of the FAQ, of the one that it translates, and of all translations of these."""
    original = FAQ.objects.filter(pk=faq_id).values_list("translation_of", flat=True)
    same = Q(pk=faq_id) | Q(translation_of=faq_id) | Q(pk__in=original) | Q(translation_of__in=original)
    return frozenset(FAQ.objects.filter(same).values_list("pk", flat=True))


def choose_answer(faq_id: int, family: Iterable[int], language: str, *, scope: Scope) -> ChosenAnswer | None:
    """Return the FAQ's answer in that language, else that of another of its `family`, else one in another language.

    An answer counts as long as its FAQ is published and valid, it is in the scope, and none of it is withheld until
    staff have checked it.
    """
    faqs = FAQ.objects.published().valid_on(timezone.localdate()).filter(pk__in=list(family))
    pages = list(AnswerPage.objects.filter(faq__in=faqs.order_by()).select_related("faq", "document"))
    allowed = _filter(scope, [page.document_id for page in pages]) if pages else set()
    pages = [page for page in pages if page.document_id in allowed]
    if not pages:
        return None
    best = min(pages, key=lambda page: (page.language != language, page.faq_id != faq_id, page.language))
    faq, passages = best.faq, Passage.objects.live().filter(document=best.document_id).order_by("position")
    return ChosenAnswer(
        faq_id=faq.pk,
        document_id=best.document_id,
        passage_id=passages.values_list("pk", flat=True).first() or 0,
        title=best.document.title,
        url=best.document.url,
        text=best.document.text,
        language=best.language,
        office=faq.office(best.language),
        checked_on=faq.answer_checked_on or timezone.localdate(best.document.updated_at),
        documents=frozenset(page.document_id for page in pages),
        linked=frozenset(FAQSource.objects.filter(faq__in=faqs.order_by()).values_list("document", flat=True)),
    )


def _filter(scope: Scope, documents: list[int]) -> set[int]:
    """Return those of the documents (ids) that the scope has, and of which nothing is withheld."""
    found = {pk for (pk,) in fetch_all(ALLOWED, scope_parameters(scope) | {"ids": documents})}
    withheld = Passage.objects.filter(document__in=documents, is_withheld=True)
    return found - set(withheld.order_by().values_list("document", flat=True))
