"""The questions that a change is tested on: those that staff kept, and what students asked last."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db.models import Prefetch, Q, QuerySet
from django.utils import timezone

from analytics.counts.rephrasing import mark_rephrasings
from analytics.models import AskedVector, EvaluationQuestion, Judgment
from analytics.privacy import mask_pii, standalone_text
from analytics.shadow.verdicts import Truth
from chat.models import Assistant, Message
from core.db.prepared import BinaryVector, fetch_all
from core.hashing import fingerprint
from core.inference.embeddings import Embedder, get_embedder

#: What students asked last: so many distinct questions, no older than that.
RECENT, DAYS = 200, 90
#: The same question is asked again and again: so many are read to find `RECENT` distinct ones.
READ = 5 * RECENT
NO_QUESTION = Q(answer__route__in=(Message.Route.CHIT_CHAT, Message.Route.META, Message.Route.ABUSE))
#: Of what nobody has judged.
NOT_KNOWN = Truth()


@dataclass(frozen=True, slots=True)
class TriedQuestion:
    """`history` is (role, text), oldest first; `audience` what is known of who asks. One of the ids is that of the row
    it comes from."""

    assistant_id: int
    text: str
    truth: Truth = NOT_KNOWN
    history: Sequence[tuple[str, str]] = ()
    audience: tuple[str, ...] = ()
    question_id: int | None = None
    message_id: int | None = None

    @property
    def key(self) -> tuple[int | None, int | None]:
        return self.question_id, self.message_id

    @property
    def shown(self) -> str:
        """Return the anonymised text."""
        return mask_pii(self.text) if self.message_id else self.text


def kept_questions() -> QuerySet[EvaluationQuestion]:
    """Return the accepted questions of all regression sets."""
    return EvaluationQuestion.objects.filter(
        status=EvaluationQuestion.Status.ACCEPTED, evaluation_set__assistant__isnull=False
    ).order_by("pk")


def asked_questions() -> QuerySet[Message]:
    """Return the questions of students that were looked up, the newest first."""
    return (
        Message.objects.filter(
            role=Message.Role.USER,
            answer__isnull=False,
            conversation__assistant__isnull=False,
            created_at__gte=timezone.now() - timedelta(days=DAYS),
        )
        .exclude(NO_QUESTION)
        .without_help()
        .order_by("-pk")
    )


def questions_for(assistant: Assistant) -> list[TriedQuestion]:
    """Return the questions to try: kept ones first; of those asked several times, the newest."""
    kept = from_kept(kept_questions().filter(evaluation_set__assistant=assistant))
    asked = asked_questions().filter(conversation__assistant=assistant)[:READ]
    known = {_words(each.text) for each in kept}
    recent: list[TriedQuestion] = []
    for question in from_asked(asked):
        if (words := _words(question.text)) not in known and len(recent) < RECENT:
            known.add(words)
            recent.append(question)
    return [*kept, *recent]


def from_kept(rows: QuerySet[EvaluationQuestion]) -> list[TriedQuestion]:
    judged = Prefetch("judgments", Judgment.objects.filter(grade__gt=0), to_attr="accepted")
    return [
        TriedQuestion(
            assistant_id=row.evaluation_set.assistant_id or 0,
            text=row.text,
            truth=Truth(frozenset(judgment.document_id for judgment in getattr(row, "accepted", ())), row.answerable),
            history=tuple((str(role), str(text)) for role, text in row.history),
            question_id=row.pk,
        )
        for row in rows.select_related("evaluation_set").prefetch_related(judged)
    ]


def from_asked(rows: QuerySet[Message]) -> list[TriedQuestion]:
    """Convert questions of students, each as it was looked up."""
    return [
        TriedQuestion(
            assistant_id=row.conversation.assistant_id or 0,
            text=standalone_text(row),
            audience=tuple(row.conversation.audience),
            message_id=row.pk,
        )
        for row in rows.select_related("answer", "conversation")
    ]


def in_order(questions: Iterable[TriedQuestion], keys: Sequence[tuple[int | None, int | None]]) -> list[TriedQuestion]:
    """Return the questions with these keys in their order, without deleted ones."""
    known = {question.key: question for question in questions}
    return [known[key] for key in keys if key in known]


def _words(text: str) -> str:
    return "".join(letter for letter in text.casefold() if letter.isalnum())


Key = tuple[int | None, int | None]
#: Of what students asked, the newest that have a vector.
MOST = 30_000
BATCH = 128
#: The nearest that are shown, and ways to ask that they are looked for with: the question, and its first phrasings.
NEAREST, WAYS = 30, 12
#: Read besides, since the same question is asked again and again.
NEIGHBOURS_READ = 5 * NEAREST
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
    """Bring the vectors up to date, at most so many in one call; return how many were embedded."""
    messages = asked_questions()
    wanted: dict[Key, str] = {(row.pk, None): row.text for row in kept_questions().only("text")}
    vectors = AskedVector.objects.filter(recipe=embedder.recipe)
    known = dict(vectors.filter(question__isnull=False).values_list("question_id", "of"))
    texts = {key: text for key, text in wanted.items() if known.get(key[0] or 0) != _print(embedder, text)}
    lacking = _lacking(messages, vectors)[: max(0, most - len(texts))]
    texts |= {(None, row.pk): mask_pii(standalone_text(row)) for row in lacking}
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
        mark_rephrasings(embedder, [message for _question, message in keys if message])
    _forget(messages)
    return len(missing)


def nearest(ways: Sequence[str], *, assistants: Collection[int]) -> list[TriedQuestion]:
    """Return the questions nearest to any of these ways to ask, each once; of these assistants (ids).

    Raise EmbeddingUnavailable.
    """
    if not assistants:
        return []
    embedder = get_embedder()
    vectors = embedder.embed_questions(list(dict.fromkeys(ways))[:WAYS])
    parameters: dict[str, Any] = {"recipe": embedder.recipe, "assistants": list(assistants)}
    parameters |= {f"way{number}": BinaryVector(vector) for number, vector in enumerate(vectors)}
    distances = ", ".join(DISTANCE.format(number=number) for number in range(len(vectors)))
    keys = fetch_all(SELECT.format(distance=f"least({distances})", limit=NEIGHBOURS_READ), parameters)
    found = [
        *from_kept(EvaluationQuestion.objects.filter(pk__in=[question for question, _message in keys if question])),
        *from_asked(Message.objects.filter(pk__in=[message for _question, message in keys if message])),
    ]
    distinct: dict[tuple[int, str], TriedQuestion] = {}
    for question in in_order(found, [(question, message) for question, message in keys]):
        distinct.setdefault((question.assistant_id, question.shown.casefold()), question)
    return list(distinct.values())[:NEAREST]


def _print(embedder: Embedder, text: str) -> str:
    return fingerprint(embedder.recipe, text)


def _lacking(messages: "QuerySet[Message]", vectors: "QuerySet[AskedVector]") -> "QuerySet[Message]":
    """Return those without a vector; a student's question never changes."""
    there = vectors.filter(message__isnull=False).values("message")
    newest = messages.values("pk")[:MOST]
    return Message.objects.filter(pk__in=newest).exclude(pk__in=there).select_related("answer").order_by("-pk")


def _forget(messages: "QuerySet[Message]") -> None:
    """Delete the vectors of questions that are too old, or no regression questions any more."""
    AskedVector.objects.filter(message__isnull=False).exclude(
        message__in=list(messages.values_list("pk", flat=True))
    ).delete()
    AskedVector.objects.filter(question__isnull=False).exclude(question__in=kept_questions().values("pk")).delete()
