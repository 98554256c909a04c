"""The page of one answer under review: what was said, what it was made from, and what staff think of it."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.urls import reverse

from analytics.admin.review_steps import Typed
from analytics.models import Review
from analytics.reviews.reading import others_reading
from chat.admin.conversations import Turn, found_of, turn_of
from chat.asking import profile_for
from chat.models import Message
from knowledge.models import Passage

if TYPE_CHECKING:
    from django.contrib.auth.models import User

#: Messages that are shown before the question, and after the answer.
BEFORE, AFTER = 6, 4


def texts_of(answer: Message) -> dict[int, str]:
    """What the retrieved passages say, as far as they are still the same."""
    ids = [row["passage"] for row in answer.retrieved]
    return dict(Passage.objects.filter(pk__in=ids).values_list("pk", "text")) if ids else {}


def turns_around(answer: Message, user: "User") -> tuple[list[Turn], list[Turn]]:
    """What was said before the question and after the answer, oldest first."""
    said = Message.objects.filter(conversation=answer.conversation_id).select_related("feedback")
    said = said.prefetch_related("citations")
    before = list(said.filter(pk__lt=answer.question_id or answer.pk).order_by("-pk")[:BEFORE])
    after = said.filter(pk__gt=answer.pk).order_by("pk")[:AFTER]
    return [turn_of(message, user) for message in reversed(before)], [turn_of(message, user) for message in after]


def answer_under(review: Review) -> Message:
    """With all that the page shows of it."""
    rows = Message.objects.select_related("question", "feedback", "faq", "conversation__assistant__profile")
    return rows.prefetch_related("citations").get(pk=review.message_id)


def faq_address(answer: Message, review: Review) -> str:
    """The form for a new FAQ with the student's question in it."""
    question = answer.rewritten or (answer.question.text if answer.question else "")
    given: dict[str, Any] = {"question": question, "language": review.language or "en"}
    collection = review.assistant.collections.order_by("pk").first() if review.assistant else None
    if collection:
        given["collection"] = collection.pk
    return f"{reverse('admin:faqs_faq_add')}?{urlencode(given)}"


def last_deed(review: Review) -> LogEntry | None:
    """Who of the staff did something to it last."""
    kind = ContentType.objects.get_for_model(Review)
    entries = LogEntry.objects.filter(content_type=kind, object_id=str(review.pk)).select_related("user")
    return entries.order_by("-action_time", "-pk").first()


def page_of(review: Review, user: "User", *, typed: Typed | None, is_conflict: bool) -> dict[str, Any]:
    """What the template shows; `typed` is what was to be saved and was not, because of a conflict or a mistake."""
    answer = answer_under(review)
    before, after = turns_around(answer, user)
    may_add_faqs = user.has_perm("faqs.add_faq")
    return {
        "review": review,
        "answer": answer,
        "question": answer.question,
        "asked": turn_of(answer.question, user) if answer.question else None,
        "turn": replace(turn_of(answer, user), found=found_of(answer, texts_of(answer))),
        "before": before,
        "after": after,
        "threshold": profile_for(answer.conversation.assistant).threshold,
        "reasons": [Review.Reason(reason).label for reason in review.reasons],
        "verdicts": list(enumerate(Review.Verdict.choices, start=1)),
        "comments": list(review.comments.select_related("by")),
        "typed": typed or Typed(review.verdict, "", review.version),
        "is_conflict": is_conflict,
        "last_deed": last_deed(review) if is_conflict else None,
        "readers": others_reading(review.pk, user),
        "faq_address": faq_address(answer, review) if may_add_faqs else "",
        "may_see_documents": user.has_perm("knowledge.view_document") or user.has_perm("knowledge.change_document"),
        "may_see_conversations": user.has_perm("chat.view_conversation"),
        "may_see_faqs": user.has_perm("faqs.view_faq") or user.has_perm("faqs.change_faq"),
    }
