"""Answers that went wrong, and their reviews."""

from datetime import timedelta
from typing import Any

from django.utils import timezone

from analytics.models import Review
from analytics.reviews.collect import collect, recheck
from chat.models import Feedback, Message
from tests.factories import AnswerFactory, FeedbackFactory, QuestionFactory


def answered(text: str = "Where do I park?", *, thumbs: int = 0, flags: Any = (), **answer: Any) -> Message:
    """Create an answer that was finished just now; it abstained unless `answer` says otherwise."""
    conversation = {"conversation": answer.pop("conversation")} if "conversation" in answer else {}
    question = QuestionFactory(text=text, language="en", flags=list(flags), **conversation)
    values = {"status": Message.Status.ABSTAINED, "reason": "no_evidence", "finished_at": timezone.now()} | answer
    reply: Message = AnswerFactory(question=question, **values)
    if thumbs:
        FeedbackFactory(message=reply, value=thumbs)
    return reply


def well_answered(text: str = "Is it free?", **values: Any) -> Message:
    return answered(text, status=Message.Status.COMPLETE, reason="", **values)


def rate(reply: Message, value: int, *, later: timedelta = timedelta(0)) -> None:
    """Rate as the student does; 0 takes the rating back."""
    Feedback.objects.filter(message=reply).delete()
    if value:
        FeedbackFactory(message=reply, value=value)
        Feedback.objects.filter(message=reply).update(updated_at=timezone.now() + later)


def look() -> None:
    """Do what the task of every minute does."""
    collect()
    recheck()


def get_review(reply: Message) -> Review:
    return Review.objects.get(message=reply)


def new_review(text: str = "Where do I park?", **answer: Any) -> Review:
    reply = answered(text, **answer)
    look()
    return get_review(reply)
