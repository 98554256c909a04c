"""The page of one case: what was asked, what goes along, what was said, and what staff can do."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.urls import reverse
from django.utils.html import linebreaks
from django.utils.safestring import SafeString, mark_safe

from analytics.cases.suggestions import Suggestions, suggest_for
from analytics.inbox.admin.assigning import TypedAssignment, assigning_context
from analytics.inbox.notices import mark_read
from analytics.inbox.presence import note_reader, others_reading
from chat.admin.conversations import Turn, build_turn
from chat.admin.held_back import prefetch_held_back
from chat.cases.mail.queue import describe_mails
from chat.models import Case, CaseMessage, Office
from core.inference.embeddings import EmbeddingUnavailable
from core.inference.reranker import RerankerUnavailable
from knowledge.rendering import render_markdown
from knowledge.retrieval.scope import UnknownCollection

if TYPE_CHECKING:
    from django.contrib.auth.models import User


@dataclass(frozen=True, slots=True)
class Unsaved:
    """Values that could not be saved, to stand in their forms again."""

    reply: str = ""
    comment: str = ""
    assignment: TypedAssignment | None = None


@dataclass(frozen=True, slots=True)
class Said:
    """A message of the case as staff read it, on the `side` of the user or of the assistant; as HTML."""

    message: CaseMessage
    side: str
    html: SafeString


def case_context(case: Case, user: "User", *, may_change: bool, unsaved: Unsaved) -> dict[str, Any]:
    """Return what the page shows besides the admin's own."""
    mark_read(case, user)
    if may_change:
        note_reader(case, user)
    suggestions, failure = load_suggestions(case, user) if may_change else (None, "")
    may_draft = may_change and user.has_perm("faqs.add_faq")
    return {
        "case": case,
        "said": [_said(each) for each in case.messages.select_related("author")],
        "shared": shared_turns(case, user),
        "others": list(other_cases(case, user)),
        "offices": list(other_offices(case)),
        "comments": list(case.comments.select_related("by")),
        "readers": others_reading(case, user),
        "mails": describe_mails(case),
        "suggestions": suggestions,
        "failure": failure,
        "typed_reply": unsaved.reply,
        "comment": unsaved.comment,
        **assigning_context(case, user, unsaved.assignment),
        "here": reverse("admin:chat_case_change", args=[case.pk]),
        "may_draft": may_draft,
        "may_add": may_change and user.has_perm("faqs.change_faq"),
        "may_see_faqs": user.has_perm("faqs.view_faq") or user.has_perm("faqs.change_faq"),
        "may_see_conversations": user.has_perm("chat.view_conversation"),
        "has_reply": case.first_reply_at is not None,
    }


def _said(message: CaseMessage) -> Said:
    is_office = message.by != CaseMessage.By.STUDENT
    if is_office:
        return Said(message, "assistant", render_markdown(message.text, breaks=True))
    return Said(message, "user", mark_safe(linebreaks(message.text, autoescape=True)))  # noqa: S308 (escaped)


def shared_turns(case: Case, user: "User") -> list[Turn]:
    """Return what the student sent along, oldest first; as many queries for many messages as for one."""
    rows = case.shared.select_related("feedback").prefetch_related("citations", prefetch_held_back())
    return [build_turn(each, user) for each in rows.order_by("pk")]


def other_cases(case: Case, user: "User") -> Sequence[Case]:
    """Return the other cases of the same conversation that are not closed."""
    rows = Case.objects.visible_to(user).filter(conversation=case.conversation_id, merged_into=None)
    return list(rows.exclude(pk=case.pk).exclude(state=Case.State.CLOSED).order_by("pk"))


def other_offices(case: Case) -> Sequence[Office]:
    """Return the offices that the case can be passed on to."""
    return list(Office.objects.filter(assistant=case.assistant_id, is_active=True).exclude(pk=case.office_id or 0))


def load_suggestions(case: Case, user: "User") -> tuple[Suggestions | None, str]:
    """Return what could answer the case, or the reason why that is unknown."""
    try:
        return suggest_for(case, to=user), ""
    except (EmbeddingUnavailable, RerankerUnavailable, UnknownCollection) as error:
        return None, str(error)
