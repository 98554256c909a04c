"""Answers that reports are made of, and reports of them."""

import datetime
from typing import Any

from django.utils import timezone

from analytics.models import StoredReport
from analytics.reports.columns import USUAL
from analytics.reports.definition import Definition
from analytics.reports.permissions import Rights
from chat.models import Conversation, Feedback, Message, Visitor
from tests.factories import AssistantFactory, ConversationFactory, FeedbackFactory, VisitorFactory

EVERYTHING = Rights(sees_personal_text=True, smallest=1, is_whole=True, assistants=frozenset())
MASKED = Rights(sees_personal_text=False, smallest=1, is_whole=True, assistants=frozenset())


def asked(
    text: str = "What are the fees?",
    *,
    visitors: int = 1,
    days_ago: float = 0,
    language: str = "en",
    comment: str = "",
    thumbs: int = 0,
    answered: str = "318 euros [1].",
    **answer: Any,
) -> Message:
    """Return the last of as many answers as `visitors`, each to another new visitor.

    `answer` may hold the `conversation`, or the `visitor` who asks them all.
    """
    at = timezone.now() - datetime.timedelta(days=days_ago)
    given: Conversation | None = answer.pop("conversation", None)
    assistant = answer.pop("assistant", None) or (None if given else AssistantFactory())
    site, known = answer.pop("site", None), answer.pop("visitor", None)
    for _ in range(visitors):
        said = given or ConversationFactory(visitor=known or agreed(at), assistant=assistant, site=site)
        question = Message.objects.create(conversation=said, role="user", text=text, language=language)
        values = {"text": answered, "status": "complete", "language": language, **answer}
        made = Message.objects.create(conversation=said, role="assistant", question=question, **values)
        Message.objects.filter(pk__in=[question.pk, made.pk]).update(created_at=at)
        if thumbs or comment:
            FeedbackFactory(message=made, value=thumbs or -1, comment=comment, reasons=[Feedback.Reason.WRONG])
    return made


def agreed(at: datetime.datetime) -> Visitor:
    visitor: Visitor = VisitorFactory()
    Visitor.objects.filter(pk=visitor.pk).update(consented_at=at)
    return visitor


def definition(*columns: str, **values: Any) -> Definition:
    return Definition(columns=columns or USUAL, **values)


def stored(user: Any, *columns: str, state: str = StoredReport.State.QUEUED, **values: Any) -> StoredReport:
    dumped = definition(*columns, **values).dump()
    return StoredReport.objects.create(name="Fees", definition=dumped, requested_by=user, language="en", state=state)
