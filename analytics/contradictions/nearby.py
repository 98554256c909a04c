"""The texts near to an edited page or FAQ, by vector and by words: what it may contradict."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from django.db.models import Q
from pgvector.django import CosineDistance

from analytics.contradictions.answers import read_other_languages
from analytics.contradictions.candidates import NEIGHBOURS
from analytics.contradictions.collect import Texts, document_key, faq_key, read_groups, read_texts
from analytics.contradictions.comparison.statements import Source, read_statements
from analytics.models import Contradiction
from faqs.models import FAQVector
from knowledge.indexing.generations import live_generation
from knowledge.models import Generation, Passage
from knowledge.retrieval.dense import DenseRetriever
from knowledge.retrieval.lexical import LexicalRetriever
from knowledge.retrieval.types import Query, Scope

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

#: Passages that are read for the words of each statement: room for some that say the same on pages of their own.
ALIKE = 20


def read_near(*, documents: Sequence[int], faqs: Sequence[int]) -> Texts:
    """Read these pages and FAQs, those near to them, and those that they were found to contradict before.

    Of an answer, also the one in the other language.
    """
    own = read_texts(Q(document__in=documents), Q(pk__in=faqs))
    generation = live_generation()
    lengths = Counter(source.owner for source in own.sources)
    vectors = list(_vectors(generation, own, faqs))
    searched = tuple(read_groups())
    passages = {pk for pk in own.passages if pk is not None}
    for owner, vector in vectors:
        passages |= _near_vector(generation, vector, searched, lengths[owner])
    for text, language in _statements(own.sources):
        passages |= _near_words(generation, text, Scope(searched, language))
    near_faqs = {pk for _owner, vector in vectors for pk in _near_faqs(generation, vector)}
    known_documents, known_faqs = _counterparts(documents, faqs)
    wanted = known_documents | read_other_languages(documents)
    return read_texts(Q(pk__in=passages) | Q(document__in=wanted), Q(pk__in={*faqs, *near_faqs, *known_faqs}))


def _vectors(generation: Generation, own: Texts, faqs: Sequence[int]) -> Iterator[tuple[str, "Floats"]]:
    """Yield the vector of each passage and of each FAQ's key points, with whose it is."""
    passages = Passage.objects.filter(pk__in=[pk for pk in own.passages if pk is not None])
    for document, vector in passages.values_list("document", "embedding"):
        yield document_key(document), np.array(vector, np.float32)
    answers = FAQVector.objects.filter(generation=generation, kind=FAQVector.Kind.ANSWERS, faq__in=faqs)
    for faq, vector in answers.values_list("faq", "embedding"):
        yield faq_key(faq), np.array(vector, np.float32)


def _statements(sources: Sequence[Source]) -> Iterator[tuple[str, str]]:
    """Yield the text and the language of each statement."""
    for each in read_statements(sources):
        yield each.unit.text, sources[each.source].language.partition("-")[0]


def _near_vector(generation: Generation, vector: "Floats", searched: tuple[int, ...], own: int) -> set[int]:
    query = Query("", vector, generation.pk)
    hits = DenseRetriever().retrieve(query, k=NEIGHBOURS + own, scope=Scope(searched))
    return {hit.passage_id for hit in hits}


def _near_words(generation: Generation, text: str, scope: Scope) -> set[int]:
    query = Query(text, np.zeros(0, np.float32), generation.pk)
    return {hit.passage_id for hit in LexicalRetriever().retrieve(query, k=ALIKE, scope=scope)}


def _near_faqs(generation: Generation, vector: "Floats") -> Iterator[int]:
    answers = FAQVector.objects.filter(generation=generation, kind=FAQVector.Kind.ANSWERS)
    near = answers.order_by(CosineDistance("embedding", vector)).values_list("faq", flat=True)
    yield from near[: NEIGHBOURS + 1]


def _counterparts(documents: Sequence[int], faqs: Sequence[int]) -> tuple[set[int], set[int]]:
    """Return the pages and FAQs of the contradictions that are known of these."""
    known = Contradiction.objects.of(documents=list(documents), faqs=list(faqs))
    sides = known.values_list("first_document", "second_document", "first_faq", "second_faq")
    pages = {pk for row in sides for pk in row[:2] if pk}
    return pages, {pk for row in sides for pk in row[2:] if pk}
