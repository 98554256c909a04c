"""Finds questions that ask the one before them again: the answer that came between did not help."""

from collections.abc import Collection

from analytics.models import Rephrasing
from core.db.prepared import fetch_all
from core.inference.embeddings import Embedder
from core.inference.embeddings.calibration import COMMON

#: Similarity from which a question asks the one before it again, on the scale of all models.
#: See docs/decisions/0044-outcomes.md.
SAME = 0.54
#: Who asks the same a day later has forgotten the answer, and does not complain about it.
HOURS = 24
#: Of the conversations of these messages: each question that has a vector, and whether it asks the one before again.
SELECT = """
WITH touched AS (SELECT DISTINCT conversation_id FROM chat_message WHERE id = ANY(%(messages)s::bigint[])),
asked AS (
    SELECT message.id, vector.embedding, message.created_at,
        lag(message.id) OVER earlier AS of, lag(vector.embedding) OVER earlier AS embedding_of,
        lag(message.created_at) OVER earlier AS asked_at
    FROM chat_message AS message
    JOIN analytics_askedvector AS vector ON vector.message_id = message.id AND vector.recipe = %(recipe)s
    WHERE message.conversation_id IN (SELECT conversation_id FROM touched)
    WINDOW earlier AS (PARTITION BY message.conversation_id ORDER BY message.id)
)
SELECT id, of, coalesce(
    1 - (embedding <=> embedding_of) >= %(least)s AND created_at - asked_at < make_interval(hours => %(hours)s), false
) FROM asked
"""


def mark_rephrasings(embedder: Embedder, messages: Collection[int]) -> int:
    """Look at the conversations of these questions, whose vectors are new; return how many ask again."""
    if not messages:
        return 0
    least = COMMON.questions.to(embedder.scale.questions, SAME)
    parameters = {"messages": list(messages), "recipe": embedder.recipe, "least": least, "hours": HOURS}
    rows = fetch_all(SELECT, parameters)
    found = {message: of for message, of, asks_again in rows if asks_again}
    known = dict(Rephrasing.objects.filter(message__in=[row[0] for row in rows]).values_list("message", "of"))
    outdated = [message for message, of in known.items() if found.get(message) != of]
    Rephrasing.objects.filter(message__in=outdated).delete()
    new = [message for message, of in found.items() if known.get(message) != of]
    Rephrasing.objects.bulk_create(
        (Rephrasing(message_id=message, of_id=found[message]) for message in new), ignore_conflicts=True
    )
    return len(found)
