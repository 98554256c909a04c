"""Suggests what may fill a gap: students' phrasings, documents that may answer, close FAQs. Stores nothing."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from analytics.gaps.detection import read_vector
from analytics.models import Gap, GapQuestion
from analytics.privacy import anonymised_texts
from chat.pipeline.question import build_question
from chat.pipeline.retrieval.candidates import load_candidates
from chat.pipeline.retrieval.profiles import PROFILES, retrieve_with
from core.access import Staff, sees_everything
from faqs.duplicates import close_to
from faqs.models import FAQ
from faqs.retriever import match
from knowledge.chunking.plain_text import make_plain
from knowledge.models import Collection
from knowledge.retrieval.fusion import weighted_rrf
from knowledge.retrieval.scope import build_scope
from knowledge.retrieval.search import RankedPassage
from knowledge.retrieval.types import Query, Scope

if TYPE_CHECKING:
    from analytics.gaps.clustering import Floats

PHRASINGS, DOCUMENTS, FAQS = 8, 6, 5
#: Questions whose documents are looked for, and passages of each.
ASKED, PASSAGES = 4, 20
#: The most central questions of a gap that are read.
READ = 60
#: Cosine above which two phrasings count as one.
SAME = 0.985
#: Confidence below which a curated question is unrelated (`faqs.retriever.confidence`).
NEAR = 0.45
LONGEST, EXCERPT = 1000, 240


@dataclass(frozen=True, slots=True)
class Phrasing:
    """A student's words without what tells who asked; `key` is the question they come from."""

    key: int
    text: str


@dataclass(frozen=True, slots=True)
class Found:
    """A document that may answer, and its passage that is closest."""

    document_id: int
    title: str
    url: str
    excerpt: str


@dataclass(frozen=True, slots=True)
class Near:
    """An FAQ that is close; `similarity` is that of both questions, 0 to 1."""

    faq: FAQ
    similarity: float


@dataclass(frozen=True, slots=True)
class Suggestions:
    """`question` is what the FAQ may ask; `phrasings` are other ways to ask it, the most central first."""

    question: Phrasing
    phrasings: Sequence[Phrasing]
    documents: Sequence[Found]
    faqs: Sequence[Near]


def collect_phrasings(questions: Sequence[GapQuestion]) -> list[Phrasing]:
    """Distinct ones, at most one more than PHRASINGS: the first is the question itself."""
    chosen: list[Phrasing] = []
    vectors: list[Floats] = []
    seen: set[str] = set()
    texts = anonymised_texts([question.message for question in questions])
    for question, text in zip(questions, texts, strict=True):
        text = text[:LONGEST]
        words = "".join(letter for letter in text.casefold() if letter.isalnum())
        vector = read_vector(question.embedding)
        if words in seen or any(float(np.dot(vector, other)) > SAME for other in vectors):
            continue
        seen.add(words)
        vectors.append(vector)
        chosen.append(Phrasing(question.pk, text))
        if len(chosen) > PHRASINGS:
            break
    return chosen


def missing_phrasings(gap: Gap, faq: FAQ) -> list[Phrasing]:
    """Return the phrasings of a gap that the FAQ does not have."""
    rows = gap.questions.select_related("message__answer").order_by("-centrality", "pk")
    known = {faq.question, *faq.phrasings.values_list("text", flat=True)}
    return [each for each in collect_phrasings(list(rows[:READ])) if each.text not in known]


def suggest(gap: Gap, *, to: Staff, only: int | None = None) -> Suggestions | None:
    """Suggest for the whole gap, or for its question `only`; return None if it has no question.

    Of FAQs, only those that the member of staff may see.

    Raise EmbeddingUnavailable, UnknownCollection.
    """
    rows = gap.questions.select_related("message__answer").order_by("-centrality", "pk")
    phrasings = collect_phrasings(list(rows[:READ] if only is None else rows.filter(pk=only)))
    if not phrasings:
        return None
    question, *others = phrasings
    ask = build_question(gap.assistant, question.text, gap.language)
    scope = build_scope(ask.collections)
    found = [
        retrieve_with(PROFILES["default"], each.text, scope=scope, k=PASSAGES) for each in [question, *others][:ASKED]
    ]
    best: dict[int, RankedPassage] = {}
    for retrieval in found:
        for hit in retrieval.hits:
            best.setdefault(hit.document_id, hit)
    rankings = [dict.fromkeys(hit.document_id for hit in retrieval.hits) for retrieval in found]
    order = list(weighted_rrf([(document, 1.0) for document in ranking] for ranking in rankings))
    candidates = load_candidates([best[document] for document in order[:DOCUMENTS]])
    return Suggestions(
        question=question,
        phrasings=others,
        documents=[
            Found(each.document_id, each.title or each.url, each.url, _excerpt(each.text)) for each in candidates
        ],
        faqs=_near_faqs(question.text, gap.language, found[0].query, scope, to),
    )


def _near_faqs(question: str, language: str, query: Query, scope: Scope, to: Staff) -> list[Near]:
    """Return what students could get, in any language, and what the form of an FAQ would show, drafts too."""
    own = None if sees_everything(to) else list(Collection.objects.visible_to(to).values_list("pk", flat=True))
    near = {each.faq_id: each.similarity for each in close_to(question, language=language, but=0, collections=own)}
    for each in match(query, scope=scope, faqs=FAQS):
        if each.similarity >= NEAR:
            near[each.faq_id] = max(each.similarity, near.get(each.faq_id, 0.0))
    faqs = FAQ.objects.visible_to(to).in_bulk(list(near))
    closest = sorted(near, key=lambda faq_id: -near[faq_id])
    return [Near(faqs[pk], near[pk]) for pk in closest if pk in faqs][:FAQS]


def _excerpt(markdown: str) -> str:
    text = make_plain(markdown)
    return text if len(text) <= EXCERPT else f"{text[:EXCERPT].rsplit(' ', 1)[0]} …"
