"""Warns staff of an FAQ whose linked pages say nothing about its question."""

from collections.abc import Iterator

from django.utils.translation import gettext as _
from pgvector import HalfVector
from pgvector.django import CosineDistance

from chat.pipeline.retrieval.candidates import load_candidates
from chat.pipeline.sentences.ranking import is_off_topic, rank_sentences
from chat.pipeline.sentences.unit_vectors import embed_with_question
from core.inference.embeddings import EmbeddingUnavailable
from faqs.answers.checks import Warned
from faqs.models import FAQ
from faqs.retriever import PASSAGES_A_DOCUMENT
from knowledge.indexing.generations import live_generation
from knowledge.models import Passage
from knowledge.retrieval.query_vectors import search_vector
from knowledge.retrieval.search import RankedPassage


def warn_of_pages(*, faq: FAQ, with_pages: bool, **_given: object) -> list[Warned]:
    """Receive `answer_checked`: return a warning if no sentence of the linked pages is about the question.

    Pages that are not indexed yet are not judged.
    """
    if not with_pages or not faq.pk or faq.written_answers or faq.status == FAQ.Status.RETIRED:
        return []
    try:
        candidates = load_candidates(list(_closest(faq)))
        ranked = rank_sentences(faq.question, candidates, embed=embed_with_question, curated={})
    except EmbeddingUnavailable:
        return []
    if not ranked or not is_off_topic(ranked):
        return []
    said = _(
        "No sentence of the linked pages seems to be about this question. Students are shown the first of these pages "
        "as a link, without a quotation. Check the pages, or write the answer in your own words."
    )
    return [Warned("", said)]


def _closest(faq: FAQ) -> Iterator[RankedPassage]:
    """Yield the passages of each linked document that are closest to the question, as many as are searched with it."""
    generation = live_generation()
    vector, _scale = search_vector(generation.model, faq.question)
    passages = Passage.objects.retrievable(generation.pk).order_by(CosineDistance("embedding", HalfVector(vector)))
    for document_id in faq.sources.order_by("position").values_list("document", flat=True):
        found = passages.filter(document=document_id).values_list("pk", flat=True)[:PASSAGES_A_DOCUMENT]
        for rank, passage_id in enumerate(found, start=1):
            yield RankedPassage(passage_id, document_id, rank, 0.0, {})
