"""Suggestions for a reply: what pages and written answers say about the question. Staff decide what of it they send."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chat.models import Case
from chat.pipeline.question import build_question
from chat.pipeline.retrieval.candidates import load_candidates
from chat.pipeline.retrieval.profiles import PROFILES, retrieve_with
from core.access import Staff
from faqs.models import FAQ
from faqs.retriever import match
from knowledge.chunking.plain_text import make_plain
from knowledge.models import Document
from knowledge.retrieval.scope import build_scope
from knowledge.retrieval.types import Query, Scope

if TYPE_CHECKING:
    from knowledge.retrieval.search import Retrieval

PAGES, PASSAGES, FAQS = 3, 12, 3
#: Questions further apart ask something else.
NEAR = 0.45
#: The search reads the question's beginning.
ASKED, EXCERPT = 1000, 400


@dataclass(frozen=True, slots=True)
class PageWords:
    """The words of a page that are closest to the question, and the Markdown that quotes them in a reply."""

    title: str
    url: str
    excerpt: str
    quote: str


@dataclass(frozen=True, slots=True)
class NearFAQ:
    """An FAQ that is close to the question, 0 to 1; `answer` is staff's own in the case's language, or empty."""

    faq: FAQ
    similarity: float
    answer: str


@dataclass(frozen=True, slots=True)
class Suggestions:
    """Pages and FAQs, the closest first."""

    pages: Sequence[PageWords]
    faqs: Sequence[NearFAQ]


def suggest_for(case: Case, *, to: Staff) -> Suggestions:
    """Find what could answer the case; of FAQs, those that the member of staff may see.

    Raise EmbeddingUnavailable, RerankerUnavailable, UnknownCollection.
    """
    ask = build_question(case.assistant, case.question[:ASKED], case.language)
    scope = build_scope(ask.collections)
    found = retrieve_with(PROFILES["default"], ask.text, scope=scope, k=PASSAGES)
    return Suggestions(_pages(found), _faqs(found.query, scope, case.language, to))


def _pages(found: "Retrieval") -> list[PageWords]:
    """Return the closest pages without those of FAQs' answers, which are suggested as FAQs."""
    best = {hit.document_id: hit for hit in reversed(found.hits)}
    answers = set(Document.objects.filter(pk__in=best, is_written_answer=True).values_list("pk", flat=True))
    order = [pk for pk in dict.fromkeys(hit.document_id for hit in found.hits) if pk not in answers][:PAGES]
    return [
        _page_words(each.title or each.url, each.url, make_plain(each.text))
        for each in load_candidates([best[document] for document in order])
    ]


def _page_words(title: str, url: str, text: str) -> PageWords:
    words = " ".join(text.split())
    excerpt = words if len(words) <= EXCERPT else f"{words[:EXCERPT].rsplit(' ', 1)[0]} …"
    source = f"[{title}]({url})" if url.startswith(("https://", "http://")) else title
    return PageWords(title, url, excerpt, f"> {excerpt}\n>\n> {source}\n")


def _faqs(query: Query, scope: Scope, language: str, to: Staff) -> list[NearFAQ]:
    near: dict[int, float] = {}
    for each in match(query, scope=scope, faqs=FAQS):
        if each.similarity >= NEAR:
            near.setdefault(each.faq_id, each.similarity)
    faqs = FAQ.objects.visible_to(to).in_bulk(list(near))
    return [
        NearFAQ(faqs[pk], similarity, faqs[pk].written_answers.get(language, ""))
        for pk, similarity in near.items()
        if pk in faqs
    ]
