"""Questions asked in vain, and looks for them."""

from datetime import timedelta
from typing import Any

from django.utils import timezone

from analytics.gaps.run import work_on
from analytics.models import Gap, GapQuestion, GapRun
from chat.models import Message
from tests.factories import AnswerFactory, AssistantFactory, ConversationFactory, QuestionFactory

PARKING = ("How do I get a parking permit?", "How can I get a permit for parking?", "Where do I get a parking permit?")
POOL = ("Is there a swimming pool for students?", "Is there a pool where students can swim?")


def ask_in_vain(
    text: str, *, days_ago: float = 1, assistant: Any = None, visitor: Any = None, **answer: Any
) -> Message:
    """Make a question; its answer abstained unless `answer` says otherwise."""
    place = {"assistant": assistant or the_assistant()} | ({"visitor": visitor} if visitor else {})
    question = QuestionFactory(conversation=ConversationFactory(**place), text=text)
    values = {"status": Message.Status.ABSTAINED, "reason": "no_evidence", "text": "I do not know."} | answer
    AnswerFactory(question=question, **values)
    Message.objects.filter(pk=question.pk).update(created_at=timezone.now() - timedelta(days=days_ago))
    return question


def the_assistant() -> Any:
    from chat.models import Assistant

    return Assistant.objects.first() or AssistantFactory()


def look() -> GapRun:
    run = GapRun.objects.enqueue()
    assert run
    work_on(run.pk)
    run.refresh_from_db()
    assert run.state == "finished", run.message
    return run


def new_gap(name: str = "Parking", *, texts: tuple[str, ...] = ("Where do I park?",), **values: Any) -> Gap:
    """As a look leaves it, with vectors of nowhere."""
    now = timezone.now()
    known = {
        "assistant": the_assistant(),
        "first_asked": now,
        "last_asked": now,
        "weight": 1.0,
        "visitors": 1,
        "question_count": len(texts),
        "centroid": bytes(8),
        "recipe": "none",
    }
    gap = Gap.objects.create(name=name, **known | values)
    for number, text in enumerate(texts):
        vector = bytes([number % 250, 0x3C, 0, 0])
        message = ask_in_vain(text, assistant=gap.assistant)
        GapQuestion.objects.create(
            gap=gap, message=message, language="en", embedding=vector, recipe="none", centrality=1 - number / 100
        )
    return gap
