"""FAQ files into FAQs."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.db import transaction

from core.language import tag_in
from core.text import strip_nul
from faqs.models import FAQ, Category
from faqs.versions.history import Reason, recording, set_phrasings, set_sources
from knowledge.guardrails.injection import flag_document
from knowledge.models import Collection, Document


class BadFile(ValueError):
    """The file as a whole cannot be read; the message says why."""


@dataclass(slots=True)
class ImportReport:
    """What an import did; `problems` are (which FAQ, reason)."""

    created: int = 0
    changed: int = 0
    unchanged: int = 0
    drafts: int = 0
    problems: list[tuple[str, str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class FAQRecord:
    external_id: str
    question: str
    phrasings: tuple[str, ...]
    sources: tuple[str, ...]
    category: str
    language: str
    reference_answer: str


def read_faqs(path: Path) -> list[Any]:
    """The file's list; raises BadFile or OSError."""
    try:
        raw = strip_nul(json.loads(path.read_text(encoding="utf-8-sig")))
    except UnicodeDecodeError as error:
        raise BadFile(f"it is not UTF-8 (byte {error.start})") from error
    except json.JSONDecodeError as error:
        raise BadFile(f"it is not JSON ({error.msg} in line {error.lineno})") from error
    except RecursionError as error:
        raise BadFile("its JSON is nested too deeply") from error
    if not isinstance(raw, list):
        raise BadFile('it must be a list: [{"question": …, "sources": […]}, …]')
    return raw


def faq_record(raw: object) -> FAQRecord:
    """Checks `{"id"?, "question", "phrasings"?, "sources", "category"?, "language"?, "reference_answer"?}`.

    Marcel's form is the same, with its `intent` as another phrasing. Raises ValueError.
    """
    if not isinstance(raw, dict):
        raise ValueError("it is not an object")
    lists = {name: raw.get(name) or [] for name in ("phrasings", "sources")}
    for name, value in lists.items():
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise ValueError(f'"{name}" must be a list of texts')
    texts = {name: raw.get(name) or "" for name in ("question", "intent", "category", "language", "reference_answer")}
    for name, value in texts.items():
        if not isinstance(value, str):
            raise ValueError(f'"{name}" must be a text')
    question = texts["question"].strip()
    if not question:
        raise ValueError('"question" is missing')
    if long := [text for text in (question, texts["intent"], *lists["phrasings"]) if len(text) > 1000]:
        raise ValueError(f"a question or phrasing has {len(long[0]):,} characters; 1,000 are allowed")
    phrasings = [text.strip() for text in (*lists["phrasings"], texts["intent"])]
    return FAQRecord(
        external_id=str(raw.get("id") or "")[:200],
        question=question,
        phrasings=tuple(dict.fromkeys(text for text in phrasings if text and text != question)),
        sources=tuple(dict.fromkeys(url.strip() for url in lists["sources"])),
        category=texts["category"].strip()[:200],
        language=tag_in(texts["language"]) or "en",
        reference_answer=texts["reference_answer"],
    )


def import_faqs(raws: list[Any], *, collection: Collection | None = None) -> ImportReport:
    """Creates or updates one FAQ an id (or question); a source that no document has is reported.

    Sources are documents of `collection`, or of any, those searched by default first.

    An FAQ whose sources are all known is published; otherwise it is kept as a draft. One whose question seems to speak
    to a program is sent to review. One that staff retired or
    sent to review keeps its status.
    """
    report = ImportReport()
    seen: set[str] = set()
    for number, raw in enumerate(raws, start=1):
        name = f"FAQ {number}"
        try:
            record = faq_record(raw)
        except ValueError as error:
            report.problems.append((name, str(error)))
            continue
        name = f"FAQ {number} ({record.external_id or record.question[:60]})"
        key = record.external_id or record.question
        if key in seen:
            report.problems.append((name, "it is there twice; the first one counts"))
            continue
        seen.add(key)
        _save(record, name, report, collection)
    return report


@transaction.atomic
def _save(record: FAQRecord, name: str, report: ImportReport, collection: Collection | None) -> None:
    by_id = {"external_id": record.external_id} if record.external_id else {"question": record.question}
    faq = FAQ.objects.select_for_update().filter(**by_id).order_by("pk").first()
    before = _content(faq) if faq else None
    documents: dict[str, Document] = {}
    found = Document.objects.filter(url__in=record.sources).exclude(status=Document.Status.ARCHIVED)
    found = found.filter(collection=collection) if collection else found
    for document in found.select_related("collection").order_by("-collection__searched_by_default", "pk"):
        documents.setdefault(document.url, document)
    for url in record.sources:
        if url not in documents:
            report.problems.append((name, f"no document has the address {url}"))
    if not record.sources:
        report.problems.append((name, "it names no sources"))
    linked = [documents[url] for url in record.sources if url in documents]
    complete = bool(linked) and len(linked) == len(record.sources)

    faq = faq or FAQ(external_id=record.external_id)
    if faq.collection_id is None and linked:
        faq.collection = linked[0].collection
    faq.question, faq.language, faq.reference_answer = record.question, record.language, record.reference_answer
    faq.category = Category.objects.get_or_create(name=record.category)[0] if record.category else None
    if (before is None or before[0] != record.question) and flag_document(record.question):
        faq.status = FAQ.Status.IN_REVIEW  # it is offered to students in these words
        report.problems.append((name, "its question seems to speak to a program: publish it if it is harmless"))
    if faq.status in {FAQ.Status.DRAFT, FAQ.Status.PUBLISHED}:
        faq.status = FAQ.Status.PUBLISHED if complete else FAQ.Status.DRAFT
    report.drafts += faq.status == FAQ.Status.DRAFT
    if before is not None and before == _content(faq, record.phrasings, [document.pk for document in linked]):
        report.unchanged += 1
        return
    with recording([faq.pk] if before else [], by=None, reason=Reason.IMPORT) as touched:
        faq.save()
        touched.append(faq.pk)
        set_phrasings(faq, record.phrasings)
        set_sources(faq, [document.pk for document in linked])
    if before is None:
        report.created += 1
    else:
        report.changed += 1


def _content(faq: FAQ, phrasings: tuple[str, ...] | None = None, documents: list[int] | None = None) -> tuple[Any, ...]:
    """What an import may change, to see whether it did."""
    if phrasings is None:
        phrasings = tuple(faq.phrasings.values_list("text", flat=True))
    if documents is None:
        documents = list(faq.sources.values_list("document_id", flat=True))
    values = (faq.question, faq.language, faq.reference_answer, faq.category_id, faq.status)
    return (*values, frozenset(phrasings), tuple(documents))
