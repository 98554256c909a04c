"""Questions with known answers that an installation has: regression questions, and FAQs with linked documents."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from django.db.models import Prefetch
from django.utils import timezone

from analytics.models import EvaluationQuestion, Judgment
from chat.models import Assistant
from chat.pipeline.question import assistant_config
from core.hashing import fingerprint
from core.language import detect_language
from faqs.models import FAQ, main_language
from knowledge.models import Document
from knowledge.retrieval.scope import build_scope

#: Fewer questions than this tell nothing about a model.
FEWEST = 6


@dataclass(frozen=True, slots=True)
class KnownQuestion:
    """A question whose answer stands in `documents`; `expected` says what a good answer holds, or nothing.

    One that is not answerable is asked with these documents left out, so that every shown answer is wrong.
    """

    key: str
    text: str
    language: str
    documents: frozenset[int]
    expected: str
    is_answerable: bool = True

    def withheld(self) -> "KnownQuestion":
        """Return the same question with its documents left out."""
        return replace(self, key=f"{self.key}:withheld", is_answerable=False)


def known_questions(assistant: Assistant) -> list[KnownQuestion]:
    """Return an assistant's known questions in an order that stays the same: those with an expected answer first."""
    there = _documents(assistant)
    found = [
        question
        for question in (*_regression_questions(assistant), *_faqs(assistant))
        if question.documents and question.documents <= there
    ]
    return sorted(found, key=lambda each: (not each.expected, fingerprint("trial", each.key)))


def _documents(assistant: Assistant) -> frozenset[int]:
    """Return the ids of the documents that may answer for the assistant."""
    scope = build_scope(assistant_config(assistant, assistant.languages[0]).collections)
    rows = Document.objects.filter(collection__in=scope.collection_ids, status=Document.Status.PUBLISHED)
    return frozenset(rows.values_list("pk", flat=True))


def _regression_questions(assistant: Assistant) -> Iterator[KnownQuestion]:
    judged = Prefetch("judgments", Judgment.objects.filter(grade__gt=0), to_attr="accepted")
    rows = EvaluationQuestion.objects.filter(
        status=EvaluationQuestion.Status.ACCEPTED, evaluation_set__assistant=assistant, history=[]
    )
    for row in rows.prefetch_related(judged):
        documents = frozenset(judgment.document_id for judgment in getattr(row, "accepted", ()))
        language = detect_language(row.text) or assistant.languages[0]
        yield KnownQuestion(f"question:{row.pk}", row.text, language, documents, row.reference)


def _faqs(assistant: Assistant) -> Iterator[KnownQuestion]:
    rows = FAQ.objects.published().valid_on(timezone.localdate()).of_university().with_parts()
    for faq in rows:
        language = main_language(faq.language)
        if language not in assistant.languages:
            continue
        phrasings = [phrasing.text for phrasing in faq.phrasings.all()]
        text = next((each for each in phrasings if detect_language(each) == language), faq.question)
        documents = frozenset(source.document_id for source in faq.sources.all())
        yield KnownQuestion(f"faq:{faq.pk}", text, language, documents, faq.reference_answer)
