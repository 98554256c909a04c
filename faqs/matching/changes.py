"""Changes of what classifiers are fitted to, counted by collection, so that no question is matched by an old fit."""

from collections.abc import Iterable

from django.db import connection

from faqs.leads import LEADS

#: In order of the ids, so that two edits at once wait for one another.
COUNT = """
INSERT INTO faqs_matcher (collection_id, choice, edits, is_pinned)
SELECT id, 'auto', 1, FALSE FROM knowledge_collection WHERE id = ANY(%s) ORDER BY id
ON CONFLICT (collection_id) DO UPDATE SET edits = faqs_matcher.edits + 1
"""
LED_TO = f"""
SELECT DISTINCT document.collection_id
FROM ({LEADS}) AS source JOIN knowledge_document AS document ON document.id = source.document_id
WHERE source.faq_id = ANY(%s)
"""


def collections_of(faq_ids: Iterable[int]) -> list[int]:
    """Return the collections of the documents that these FAQs lead to."""
    with connection.cursor() as cursor:
        cursor.execute(LED_TO, [list(faq_ids)])
        return [pk for (pk,) in cursor.fetchall()]


def count_edit(collections: Iterable[int]) -> None:
    """Count an edit in these collections: questions are matched by the nearest phrasing until the next fit."""
    if wanted := list(collections):
        with connection.cursor() as cursor:
            cursor.execute(COUNT, [wanted])
