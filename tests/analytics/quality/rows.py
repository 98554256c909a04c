"""Answers of yesterday, samples of them, and members who judge."""

import datetime
from typing import Any

from django.utils import timezone

from analytics.models import SampledAnswer, SampleVerdict
from chat.models import Assistant, Message
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


def sampled(
    assistant: Assistant,
    *verdicts: str,
    day: datetime.date | None = None,
    evidence: float | None = 0.7,
    threshold: float = 0.4,
    is_shown: bool = True,
    by: Any = (),
) -> SampledAnswer:
    """Create a sampled answer whose conversation is gone, with a verdict each of two members."""
    row = SampledAnswer.objects.create(
        assistant=assistant,
        day=day or yesterday(),
        evidence=evidence,
        threshold=threshold,
        is_shown=is_shown,
        is_newcomer=True,
    )
    members = by or [UserFactory() for _ in verdicts]
    for verdict, member in zip(verdicts, members, strict=False):
        SampleVerdict.objects.create(answer=row, by=member, verdict=verdict)
    return row
