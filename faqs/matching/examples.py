"""Examples for a collection's classifier: ways to ask its published FAQs, and questions that staff confirmed."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from core.db.prepared import fetch_all
from core.hashing import fingerprint
from faqs.leads import LEADS
from faqs.matching.classifier import NO_FAQ

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Ids of the rows whose vectors are examples, with the FAQ of each: of FAQs with a document of the collection.
ROWS = f"""
WITH leads AS ({LEADS})
SELECT 'asks' AS origin, vector.id, vector.faq_id, vector.embedding
FROM faqs_faqvector AS vector JOIN faqs_faq AS faq ON faq.id = vector.faq_id
WHERE vector.kind = 'asks' AND vector.generation_id = %(generation)s AND faq.status = 'published' AND EXISTS (
    SELECT FROM leads AS source JOIN knowledge_document AS document ON document.id = source.document_id
    WHERE source.faq_id = faq.id AND document.collection_id = %(collection)s
)
UNION ALL
SELECT 'confirmed', vector.id, question.faq_id, vector.embedding
FROM faqs_confirmedvector AS vector JOIN faqs_confirmedquestion AS question ON question.id = vector.question_id
JOIN faqs_faq AS faq ON faq.id = question.faq_id
WHERE vector.generation_id = %(generation)s AND faq.status = 'published' AND EXISTS (
    SELECT FROM leads AS source JOIN knowledge_document AS document ON document.id = source.document_id
    WHERE source.faq_id = faq.id AND document.collection_id = %(collection)s
)
UNION ALL
SELECT 'confirmed', vector.id, 0, vector.embedding
FROM faqs_confirmedvector AS vector JOIN faqs_confirmedquestion AS question ON question.id = vector.question_id
WHERE vector.generation_id = %(generation)s AND question.faq_id IS NULL AND EXISTS (
    SELECT FROM faqs_confirmedquestion_collections AS searched
    WHERE searched.confirmedquestion_id = question.id AND searched.collection_id = %(collection)s
)
"""
KEYS = f"SELECT origin, id, faq_id FROM ({ROWS}) AS example ORDER BY origin, id"
EXAMPLES = f"SELECT origin, id, faq_id, halfvec_send(embedding) FROM ({ROWS}) AS example ORDER BY origin, id"
#: Collections that have a published FAQ, or had one.
COLLECTIONS = f"""
WITH leads AS ({LEADS})
SELECT DISTINCT document.collection_id
FROM faqs_faq AS faq JOIN leads AS source ON source.faq_id = faq.id
JOIN knowledge_document AS document ON document.id = source.document_id
WHERE faq.status = 'published'
UNION SELECT collection_id FROM faqs_matcher
"""
COVERAGE = f"""
WITH leads AS ({LEADS})
SELECT coalesce(avg((EXISTS (
    SELECT FROM leads AS source JOIN faqs_faq AS faq ON faq.id = source.faq_id
    WHERE source.document_id = document.id AND faq.status = 'published'
))::int), 1)::float8
FROM knowledge_document AS document WHERE document.status = 'published' AND document.collection_id = %(collection)s
"""
#: pgvector's binary form begins with the number of dimensions, of two bytes, and two more that are not used.
HEAD = 4


@dataclass(frozen=True, slots=True, eq=False)
class Examples:
    """Vectors (n, d) with the FAQ of each (n,); `confirmed` is how many of them staff confirmed.

    `coverage` is the share of the collection's documents that FAQs lead to.
    """

    vectors: "NDArray[np.float32]"
    faqs: "NDArray[np.int64]"
    confirmed: int
    coverage: float
    fingerprint: str

    @property
    def faq_count(self) -> int:
        return len(set(self.faqs.tolist()) - {NO_FAQ})


def load_examples(collection_id: int, generation_id: int) -> Examples:
    rows = fetch_all(EXAMPLES, _parameters(collection_id, generation_id))
    vectors = [np.frombuffer(data, dtype=">f2", offset=HEAD) for *_key, data in rows]
    return Examples(
        vectors=np.array(vectors, dtype=np.float32) if rows else np.empty((0, 0), np.float32),
        faqs=np.array([faq_id for _origin, _pk, faq_id, _data in rows], dtype=np.int64),
        confirmed=sum(origin == "confirmed" for origin, *_ in rows),
        coverage=fetch_all(COVERAGE, {"collection": collection_id})[0][0],
        fingerprint=_fingerprint(row[:3] for row in rows),
    )


def fingerprint_examples(collection_id: int, generation_id: int) -> str:
    """Return what changes with the examples; their vectors never change without their ids."""
    return _fingerprint(fetch_all(KEYS, _parameters(collection_id, generation_id)))


def collections_with_faqs() -> list[int]:
    return [pk for (pk,) in fetch_all(COLLECTIONS)]


def _parameters(collection_id: int, generation_id: int) -> dict[str, int]:
    return {"collection": collection_id, "generation": generation_id}


def _fingerprint(keys: Iterable[tuple[object, ...]]) -> str:
    return fingerprint(*(f"{origin} {pk} {faq_id}" for origin, pk, faq_id in keys))
