"""Ranking for a question that names a year or a term: passages of others come last."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from core.db.prepared import fetch_all
from knowledge.chunking.period_match import grade_passage
from knowledge.chunking.periods import Grade, Period

TEXTS = """
SELECT passage.id, document.title, passage.heading_path, passage.text
FROM knowledge_passage AS passage JOIN knowledge_document AS document ON document.id = passage.document_id
WHERE passage.id = ANY(%s::bigint[])
"""


def in_period(passages: Sequence[int], wanted: Sequence[Period]) -> tuple[list[int], AbstractSet[int]]:
    """Return the passages in their order, with those of other periods at the end, and the latter's ids.

    A passage that only mentions the period under the title of another comes between. One query for the texts.
    """
    places = {}
    for pk, title, path, text in fetch_all(TEXTS, [list(passages)]):
        best, label = grade_passage(wanted, (title, *path), text)
        places[pk] = 2 if best == Grade.OTHER else 1 if label == Grade.OTHER else 0
    order = sorted(passages, key=lambda passage: places.get(passage, 0))
    return order, {passage for passage, place in places.items() if place == 2}
