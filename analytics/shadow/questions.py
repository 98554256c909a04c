"""Which questions a change is tried on: those that staff kept, and what students asked last."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Prefetch, Q, QuerySet
from django.utils import timezone

from analytics.masking import masked
from analytics.models import EvaluationQuestion, Judgment
from analytics.own_words import text_of
from analytics.shadow.verdicts import Truth
from chat.models import Assistant, Message

#: What students asked last: so many distinct questions, no older than that.
RECENT, DAYS = 200, 90
#: The same question is asked again and again: so many are read to find `RECENT` distinct ones.
READ = 5 * RECENT
NO_QUESTION = Q(answer__route__in=(Message.Route.CHIT_CHAT, Message.Route.META, Message.Route.ABUSE))

#: Of what nobody has judged.
NOT_KNOWN = Truth()


@dataclass(frozen=True, slots=True)
class Question:
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
        """Without what tells who asked."""
        return masked(self.text) if self.message_id else self.text


def kept_questions() -> QuerySet[EvaluationQuestion]:
    """The accepted ones of the sets that are some assistant's regression set."""
    return EvaluationQuestion.objects.filter(
        status=EvaluationQuestion.Status.ACCEPTED, evaluation_set__assistant__isnull=False
    ).order_by("pk")


def asked_questions() -> QuerySet[Message]:
    """What students asked of an assistant and had looked up, the newest first."""
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


def questions_for(assistant: Assistant) -> list[Question]:
    """The kept ones first; of those asked several times, the newest."""
    kept = from_kept(kept_questions().filter(evaluation_set__assistant=assistant))
    asked = asked_questions().filter(conversation__assistant=assistant)[:READ]
    known = {_words(each.text) for each in kept}
    recent: list[Question] = []
    for question in from_asked(asked):
        if (words := _words(question.text)) not in known and len(recent) < RECENT:
            known.add(words)
            recent.append(question)
    return [*kept, *recent]


def from_kept(rows: QuerySet[EvaluationQuestion]) -> list[Question]:
    judged = Prefetch("judgments", Judgment.objects.filter(grade__gt=0), to_attr="accepted")
    return [
        Question(
            assistant_id=row.evaluation_set.assistant_id or 0,
            text=row.text,
            truth=Truth(frozenset(judgment.document_id for judgment in getattr(row, "accepted", ())), row.answerable),
            history=tuple((str(role), str(text)) for role, text in row.history),
            question_id=row.pk,
        )
        for row in rows.select_related("evaluation_set").prefetch_related(judged)
    ]


def from_asked(rows: QuerySet[Message]) -> list[Question]:
    """Each as it was looked up."""
    return [
        Question(
            assistant_id=row.conversation.assistant_id or 0,
            text=text_of(row),
            audience=tuple(row.conversation.audience),
            message_id=row.pk,
        )
        for row in rows.select_related("answer", "conversation")
    ]


def in_order(questions: Iterable[Question], keys: Sequence[tuple[int | None, int | None]]) -> list[Question]:
    """Those with these keys, in their order; what is gone is left out."""
    known = {question.key: question for question in questions}
    return [known[key] for key in keys if key in known]


def _words(text: str) -> str:
    return "".join(letter for letter in text.casefold() if letter.isalnum())
