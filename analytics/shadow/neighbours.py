"""The questions nearest to an FAQ: those that its change can touch at all."""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from analytics.masking import masked
from analytics.models import AskedVector, EvaluationQuestion
from analytics.own_words import text_of
from analytics.shadow.questions import Question, asked_questions, from_asked, from_kept, in_order, kept_questions
from chat.models import Message
from knowledge.hashing import fingerprint
from knowledge.inference.embedder import Embedder, get_embedder
from knowledge.prepared import BinaryVector, fetch_all

if TYPE_CHECKING:
    from django.db.models import QuerySet

Key = tuple[int | None, int | None]

#: Of what students asked, the newest that have a vector.
MOST = 10_000
BATCH = 128
#: The nearest that are shown, and ways to ask that they are looked for with: the question, and its first phrasings.
NEAREST, WAYS = 30, 12
#: Read besides, since the same question is asked again and again.
READ = 5 * NEAREST
SELECT = """
SELECT vector.question_id, vector.message_id
FROM analytics_askedvector AS vector
LEFT JOIN chat_message AS message ON message.id = vector.message_id
LEFT JOIN chat_conversation AS conversation ON conversation.id = message.conversation_id
LEFT JOIN analytics_evaluationquestion AS question ON question.id = vector.question_id
LEFT JOIN analytics_evaluationset AS own_set ON own_set.id = question.evaluation_set_id
WHERE vector.recipe = %(recipe)s AND (question.id IS NULL OR question.status = 'accepted')
    AND coalesce(conversation.assistant_id, own_set.assistant_id) = ANY(%(assistants)s::bigint[])
ORDER BY {distance}
LIMIT {limit:d}
"""
DISTANCE = "vector.embedding <=> %(way{number:d})b::halfvec"


def embed_asked(embedder: Embedder, *, most: int) -> int:
    """Brings the vectors up to date, at most so many in one call; returns how many were embedded."""
    messages = asked_questions()
    wanted: dict[Key, str] = {(row.pk, None): row.text for row in kept_questions().only("text")}
    vectors = AskedVector.objects.filter(recipe=embedder.recipe)
    known = dict(vectors.filter(question__isnull=False).values_list("question_id", "of"))
    texts = {key: text for key, text in wanted.items() if known.get(key[0] or 0) != _print(embedder, text)}
    lacking = _lacking(messages, vectors)[: max(0, most - len(texts))]
    texts |= {(None, row.pk): masked(text_of(row)) for row in lacking}
    missing = list(texts)[:most]
    for begin in range(0, len(missing), BATCH):
        keys = missing[begin : begin + BATCH]
        made = embedder.embed_questions([texts[key] for key in keys])
        for place, unique in ((0, "question"), (1, "message")):
            AskedVector.objects.bulk_create(
                (
                    AskedVector(
                        question_id=key[0],
                        message_id=key[1],
                        recipe=embedder.recipe,
                        of=_print(embedder, texts[key]),
                        embedding=vector,
                    )
                    for key, vector in zip(keys, made, strict=True)
                    if key[place]
                ),
                update_conflicts=True,
                unique_fields=[unique],
                update_fields=["recipe", "of", "embedding"],
            )
    _forget(messages)
    return len(missing)


def nearest(ways: Sequence[str], *, assistants: Collection[int]) -> list[Question]:
    """The questions nearest to any of these ways to ask, each once; of these assistants (ids).

    Raises EmbeddingUnavailable.
    """
    if not assistants:
        return []
    embedder = get_embedder()
    vectors = embedder.embed_questions(list(dict.fromkeys(ways))[:WAYS])
    parameters: dict[str, Any] = {"recipe": embedder.recipe, "assistants": list(assistants)}
    parameters |= {f"way{number}": BinaryVector(vector) for number, vector in enumerate(vectors)}
    distances = ", ".join(DISTANCE.format(number=number) for number in range(len(vectors)))
    keys = fetch_all(SELECT.format(distance=f"least({distances})", limit=READ), parameters)
    found = [
        *from_kept(EvaluationQuestion.objects.filter(pk__in=[question for question, _message in keys if question])),
        *from_asked(Message.objects.filter(pk__in=[message for _question, message in keys if message])),
    ]
    distinct: dict[tuple[int, str], Question] = {}
    for question in in_order(found, [(question, message) for question, message in keys]):
        distinct.setdefault((question.assistant_id, question.shown.casefold()), question)
    return list(distinct.values())[:NEAREST]


def _print(embedder: Embedder, text: str) -> str:
    return fingerprint(embedder.recipe, text)


def _lacking(messages: "QuerySet[Message]", vectors: "QuerySet[AskedVector]") -> "QuerySet[Message]":
    """Those without a vector; a student's question never changes."""
    there = vectors.filter(message__isnull=False).values("message")
    newest = messages.values("pk")[:MOST]
    return Message.objects.filter(pk__in=newest).exclude(pk__in=there).select_related("answer").order_by("-pk")


def _forget(messages: "QuerySet[Message]") -> None:
    """Those that are too old, or no regression question any more."""
    AskedVector.objects.filter(message__isnull=False).exclude(
        message__in=list(messages.values_list("pk", flat=True))
    ).delete()
    AskedVector.objects.filter(question__isnull=False).exclude(question__in=kept_questions().values("pk")).delete()
