"""The parts of the page of one answer under review."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from django.urls import reverse

from analytics.inbox.admin.assigning import TypedAssignment, assigning_context
from analytics.inbox.items import describe_change
from analytics.inbox.presence import others_reading
from analytics.models import Review
from analytics.reviews.admin.meant import ANOTHER, AnotherFAQForm
from analytics.reviews.admin.steps import Typed
from analytics.reviews.confirmed import NONE, may_confirm, offer
from analytics.reviews.examples import RIGHT, find_taught
from chat.admin.conversations import Turn, build_turn, describe_retrieved
from chat.admin.held_back import prefetch_held_back
from chat.models import Message
from chat.pipeline.question import profile_for
from knowledge.models import Passage

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from core.access import Staff

#: Messages that are shown before the question, and after the answer.
BEFORE, AFTER = 6, 4


def passage_texts(answer: Message) -> dict[int, str]:
    """Return the texts of the retrieved passages that are still the same."""
    ids = [row["passage"] for row in answer.retrieved]
    return dict(Passage.objects.filter(pk__in=ids).values_list("pk", "text")) if ids else {}


def turns_around(answer: Message, user: "User") -> tuple[list[Turn], list[Turn]]:
    """Return the turns before the question and after the answer, oldest first."""
    said = Message.objects.filter(conversation=answer.conversation_id).select_related("feedback")
    said = said.prefetch_related("citations", prefetch_held_back())
    before = list(said.filter(pk__lt=answer.question_id or answer.pk).order_by("-pk")[:BEFORE])
    after = said.filter(pk__gt=answer.pk).order_by("pk")[:AFTER]
    return [build_turn(message, user) for message in reversed(before)], [build_turn(message, user) for message in after]


def answer_under(review: Review) -> Message:
    """Return the reviewed answer with all that the page shows of it."""
    rows = Message.objects.select_related("question", "feedback", "faq", "conversation__assistant__profile")
    return rows.prefetch_related("citations", prefetch_held_back()).get(pk=review.message_id)


def faq_address(answer: Message, review: Review) -> str:
    """Return the address of the form for a new FAQ with the student's question in it."""
    question = answer.rewritten or (answer.question.text if answer.question else "")
    given: dict[str, Any] = {"question": question, "language": review.language or "en"}
    collection = review.assistant.collections.order_by("pk").first() if review.assistant else None
    if collection:
        given["collection"] = collection.pk
    return f"{reverse('admin:faqs_faq_add')}?{urlencode(given)}"


def may_see_faqs(user: "Staff") -> bool:
    return user.has_perm("faqs.view_faq") or user.has_perm("faqs.change_faq")


def page_context(
    review: Review, user: "User", *, typed: Typed | None, assignment: TypedAssignment | None, is_conflict: bool
) -> dict[str, Any]:
    """Return the template's context; `typed` and `assignment` were not saved, because of a conflict or a mistake."""
    answer = answer_under(review)
    before, after = turns_around(answer, user)
    may_add_faqs = user.has_perm("faqs.add_faq")
    meant = offer(review, answer, user) if may_confirm(user) else None
    taught = None if review.verdict == RIGHT else find_taught([review], user).get(review.pk)
    return {
        "review": review,
        "answer": answer,
        "question": answer.question,
        "asked": build_turn(answer.question, user) if answer.question else None,
        "turn": replace(build_turn(answer, user), found=describe_retrieved(answer, passage_texts(answer))),
        "before": before,
        "after": after,
        "threshold": profile_for(answer.conversation.assistant).threshold,
        "reasons": [Review.Reason(reason).label for reason in review.reasons],
        "verdicts": list(enumerate(Review.Verdict.choices, start=1)),
        "comments": list(review.comments.select_related("by")),
        **assigning_context(review, user, assignment),
        "may_see_topics": user.has_perm("analytics.view_gap") or user.has_perm("analytics.change_gap"),
        "typed": typed or Typed(review.verdict, "", review.version),
        "is_conflict": is_conflict,
        "what_changed": describe_change(review) if is_conflict else "",
        "readers": others_reading(review, user),
        "faq_address": faq_address(answer, review) if may_add_faqs else "",
        "meant": meant,
        "taught": taught,
        "another": AnotherFAQForm(review) if meant and may_see_faqs(user) else None,
        "none_meant": NONE,
        "another_meant": ANOTHER,
        "may_see_documents": user.has_perm("knowledge.view_document") or user.has_perm("knowledge.change_document"),
        "may_see_conversations": user.has_perm("chat.view_conversation"),
        "may_see_faqs": may_see_faqs(user),
    }
