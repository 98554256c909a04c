"""Answers of yesterday, samples of them, and members who judge."""

import datetime
from typing import Any

from django.utils import timezone

from analytics.models import SampledAnswer, SampleVerdict
from chat.models import AnswerRecord, Assistant, Message
from chat.protocol.moment import Moment, PassageRead, ProfileUsed
from tests.factories import AnswerFactory, ConversationFactory, UserFactory


def yesterday() -> datetime.date:
    return timezone.localdate() - datetime.timedelta(days=1)


def asked(assistant: Assistant, *, days_ago: int = 1, **values: Any) -> Message:
    """Create an answer to a question of a visitor of its own."""
    made: Message = AnswerFactory(
        question__conversation=ConversationFactory(assistant=assistant),
        **{"route": "question", "status": "complete", "evidence": 0.7, **values},
    )
    noon = timezone.make_aware(
        datetime.datetime.combine(timezone.localdate() - datetime.timedelta(days=days_ago), datetime.time(12))
    )
    Message.objects.filter(pk__in=[made.pk, made.question_id]).update(created_at=noon)
    return made


def recorded(answer: Message, *given: str, read: tuple[str, ...] = ()) -> Message:
    """Keep that the answer was made from the `given` passages, and that the others were `read`."""
    texts = [*enumerate(given, start=1), *((0, text) for text in read)]
    moment = Moment(
        passages=tuple(PassageRead(at, at, number, "Fees", "", "", text) for at, (number, text) in enumerate(texts)),
        faqs=(),
        office=None,
        profile=ProfileUsed("default", (), "rrf", 5, 0.4, 0, False, (), False),
        instructions=None,
        model="",
        temperature=0,
        longest_answer=0,
        strictness="",
        collections=(),
        audience=(),
        language="en",
        generation=1,
        embedding_model="small",
    )
    AnswerRecord.objects.create(message=answer, moment=moment.to_json())
    return answer


def sampled(
    assistant: Assistant,
    *verdicts: str,
    day: datetime.date | None = None,
    evidence: float | None = 0.7,
    threshold: float = 0.4,
    is_shown: bool = True,
    by: Any = (),
    model: str = "",
) -> SampledAnswer:
    """Create a sampled answer whose conversation is gone, with a verdict each of two members, or the model's."""
    row = SampledAnswer.objects.create(
        assistant=assistant,
        day=day or yesterday(),
        evidence=evidence,
        threshold=threshold,
        is_shown=is_shown,
        is_newcomer=True,
        model_verdict=model,
    )
    members = by or [UserFactory() for _ in verdicts]
    for verdict, member in zip(verdicts, members, strict=False):
        SampleVerdict.objects.create(answer=row, by=member, verdict=verdict)
    return row
