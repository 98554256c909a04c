"""The questions that topics are made of, with their vectors."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import psycopg
from django.db import connection

from analytics.gaps.clustering import Bridge

if TYPE_CHECKING:
    from analytics.gaps.clustering import Floats

#: Questions of an assistant that are clustered: the time that takes grows with their square.
MOST = 30_000
#: The vectors are those beside an FAQ's form: `analytics.shadow.questions`.
SELECT = """
WITH newest AS (
    SELECT conversation.assistant_id, message.id, message.language, vector.embedding,
        row_number() OVER (PARTITION BY conversation.assistant_id ORDER BY message.id DESC) AS place
    FROM analytics_askedvector AS vector
    JOIN chat_message AS message ON message.id = vector.message_id
    JOIN chat_conversation AS conversation ON conversation.id = message.conversation_id
    WHERE vector.recipe = %(recipe)s
)
SELECT newest.assistant_id, newest.id, placed.topic_id, newest.language, newest.embedding
FROM newest LEFT JOIN analytics_topicquestion AS placed ON placed.message_id = newest.id
WHERE newest.place <= %(most)s ORDER BY newest.id
"""
#: pgvector's half precision in binary: dimensions, nothing, and the numbers.
HEAD = 4


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """A student's question, and its topic, if it has one already."""

    pk: int
    topic_id: int | None
    language: str
    vector: "Floats"


def read_questions(recipe: str, bridge: Bridge) -> dict[int | None, list[Asked]]:
    """Return the newest questions that have a vector of this model, by assistant; older ones stay in their topics."""
    found: dict[int | None, list[Asked]] = {}
    for assistant, message, topic, language, stored in _rows(recipe):
        vector = np.frombuffer(stored, dtype=">f2", offset=HEAD).astype(np.float32)
        vector /= max(float(np.linalg.norm(vector)), 1e-9)  # half precision has moved it a little
        spoken = language if language in bridge.means else bridge.find_language(vector)
        found.setdefault(assistant, []).append(Asked(message, topic, spoken, vector))
    return found


def _rows(recipe: str) -> Iterator[tuple[int | None, int, int | None, str, bytes]]:
    connection.ensure_connection()
    with connection.wrap_database_errors, psycopg.Cursor(connection.connection) as cursor:
        cursor.execute(SELECT, {"recipe": recipe, "most": MOST}, binary=True)
        yield from cursor
