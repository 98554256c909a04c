"""Cases for tests."""

import uuid
from datetime import timedelta
from typing import Any

from django.utils import timezone

from chat.models import Case, Office
from tests.factories import AnswerFactory

QUESTION = "May I bring my dog to the library?"


def new_office(answer_of: Any, name: str = "Student Service Centre", **values: Any) -> Office:
    """Create an office of an assistant."""
    made: Office = Office.objects.create(assistant=answer_of, name=name, **values)
    return made


def new_case(**values: Any) -> Case:
    """Create a case about an abstention, that waits since now and is not due yet."""
    answer = AnswerFactory(status="abstained", question__text=QUESTION)
    assistant = answer.conversation.assistant
    known: dict[str, Any] = {
        "conversation": answer.conversation,
        "assistant": assistant,
        "office": values.pop("office", None) or new_office(assistant),
        "about": answer,
        "question": QUESTION,
        "language": "en",
        "reason": Case.Reason.ABSTAINED,
        "client_id": uuid.uuid4(),
        "reply_due": timezone.now() + timedelta(days=1),
    }
    case: Case = Case.objects.create(**known | values)
    case.shared.set([answer.question, answer])
    return case
