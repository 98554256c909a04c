"""Documents of the answers that staff wrote, kept equal to their FAQs: a question finds them, an answer cites them."""

from collections.abc import Iterable
from typing import Any

from django.conf import settings
from django.db.models import Q

from core.language import detect_language
from faqs.models import FAQ, AnswerPage, main_language
from knowledge.indexing.change_log import record_change
from knowledge.indexing.documents import sync_document
from knowledge.indexing.generations import live_generation
from knowledge.ingest.importer import collection_for
from knowledge.models import Collection, Document
from knowledge.tasks import index_document

TITLE_CHARACTERS = 500
#: Where an answer stands if neither its FAQ nor a linked document names a collection and none is searched by default.
FALLBACK_COLLECTION = "default"
#: An FAQ's answers count as long as the FAQ does.
STATUSES = {FAQ.Status.PUBLISHED: Document.Status.PUBLISHED, FAQ.Status.RETIRED: Document.Status.ARCHIVED}


def address_of(faq_id: int, language: str) -> str:
    """Return the address of an answer's public page."""
    return f"{settings.PUBLIC_URL}/answers/{faq_id}/{language}/"


def sync_pages(faqs: Iterable[int]) -> None:
    """Write the answers of these FAQs (ids) down as documents, one a language, and queue their indexing.

    Call it in the transaction that changed the FAQs.
    """
    concerned = ~Q(answer_de="") | ~Q(answer_en="") | Q(pages__isnull=False)
    chosen = FAQ.objects.with_parts().filter(concerned, pk__in=list(faqs)).distinct()
    for faq in chosen.prefetch_related("pages__document"):
        pages = {page.language: page for page in faq.pages.all()}
        for language in pages.keys() - faq.written_answers.keys():
            pages[language].delete()
        for language, text in faq.written_answers.items():
            page = pages.get(language)
            document = page.document if page else Document(is_written_answer=True)
            if _write(document, faq, language, text):
                index_document.delay_on_commit(document.pk)
            if page is None:
                AnswerPage.objects.create(faq=faq, language=language, document=document)


def index_pages() -> int:
    """Index the documents of answers that need it in the live generation; return how many."""
    if not AnswerPage.objects.exists():
        return 0
    pending = Document.objects.needing_index(live_generation().pk).filter(is_written_answer=True)
    ids = list(pending.order_by("pk").values_list("pk", flat=True))
    for document_id in ids:
        sync_document(document_id)
    return len(ids)


def delete_document(instance: AnswerPage, **_: object) -> None:
    """Receive `post_delete`: a page's document goes with it, also if its FAQ was deleted."""
    if Document.objects.filter(pk=instance.document_id).delete()[0]:
        record_change(instance.document_id)


def _write(document: Document, faq: FAQ, language: str, text: str) -> bool:
    """Save the document as the FAQ has it; return whether anything changed."""
    present: dict[str, Any] = {
        "collection": _collection(faq),
        "url": address_of(faq.pk, language),
        "title": title_in(faq, language)[:TITLE_CHARACTERS],
        "language": language,
        "status": STATUSES.get(FAQ.Status(faq.status), Document.Status.DRAFT),
        "text": text,
        "valid_from": faq.valid_from,
        "valid_until": faq.valid_until,
        "audience": _audience(faq),
    }
    if document.pk and all(getattr(document, name) == value for name, value in present.items()):
        return False
    for name, value in present.items():
        setattr(document, name, value)
    document.save()
    return True


def title_in(faq: FAQ, language: str) -> str:
    """Return the question, or the first phrasing in that language if the question is in another one."""
    if main_language(faq.language) == language:
        return faq.question
    texts = (phrasing.text for phrasing in faq.phrasings.all())
    return next((text for text in texts if detect_language(text) == language), faq.question)


def _collection(faq: FAQ) -> Collection:
    """Return the FAQ's collection, else its first document's, else the oldest one that every question searches."""
    if faq.collection:
        return faq.collection
    for source in faq.sources.all():
        return source.document.collection
    usual = Collection.objects.filter(for_evaluation=False, searched_by_default=True).order_by("pk").first()
    return usual or collection_for(FALLBACK_COLLECTION)


def _audience(faq: FAQ) -> list[str]:
    """Return the readers for whom all linked documents are; an answer beside a page for everybody is for everybody."""
    tags = [source.document.audience for source in faq.sources.all()]
    return sorted({tag for each in tags for tag in each}) if tags and all(tags) else []
