"""The page of one gap: what was asked, why it failed, and what may fill the gap."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from django.core.paginator import Paginator
from django.forms import Media
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext as _

from analytics.gaps.admin.filling import PageSearch, filling_context
from analytics.gaps.services import is_being_filled
from analytics.gaps.suggestions import Suggestions, suggest
from analytics.inbox.admin.assigning import TypedAssignment, assigning_context
from analytics.inbox.notices import mark_read
from analytics.inbox.presence import note_reader, others_reading
from analytics.models import Gap, GapQuestion, Review
from chat.admin import conversations
from chat.models import Case, Feedback, Message
from core.inference.embeddings import EmbeddingUnavailable
from core.inference.reranker import RerankerUnavailable
from knowledge.retrieval.scope import UnknownCollection

if TYPE_CHECKING:
    from django.contrib.admin import ModelAdmin
    from django.contrib.auth.models import User

A_PAGE = 25


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as the page shows it, why it counts, and the review of its answer."""

    question: GapQuestion
    reasons: Sequence[str]
    review: Review | None


def describe_reasons(answer: Message) -> list[str]:
    """Say in words why the question was not answered."""
    reasons = []
    if answer.status in {Message.Status.ABSTAINED, Message.Status.FAILED}:
        reasons.append(
            conversations.label(conversations.REASONS, answer.reason) if answer.reason else answer.get_status_display()
        )
    feedback = getattr(answer, "feedback", None)
    if feedback and feedback.value < 0:
        said = ", ".join(str(Feedback.Reason(reason).label) for reason in feedback.reasons)
        reasons.append(_("Rated as bad: %(reasons)s") % {"reasons": said} if said else _("Rated as bad"))
    return reasons


def _asked(question: GapQuestion) -> Asked:
    answer = question.message.answer
    return Asked(question, describe_reasons(answer), getattr(answer, "review", None))


@dataclass(frozen=True, slots=True)
class Unsaved:
    """Values that could not be saved, to stand in their form again; None: as it is stored."""

    comment: str = ""
    name: str | None = None
    assignment: TypedAssignment | None = None


def gap_page(
    model_admin: "ModelAdmin[Gap]", request: HttpRequest, gap: Gap, unsaved: Unsaved | None = None
) -> HttpResponse:
    """Show a gap: `?only=` narrows the suggestions to one of its questions, `?p=` is the questions' page."""
    unsaved = unsaved or Unsaved()
    user, chosen = cast("User", request.user), request.GET.get("only", "")
    only = int(chosen) if chosen.isdecimal() and len(chosen) < 19 else None
    mark_read(gap, user)
    rows = gap.questions.select_related("message__answer__feedback", "message__answer__review").order_by(
        "-centrality", "pk"
    )
    page = Paginator(rows, A_PAGE).get_page(request.GET.get("p"))
    may_change = model_admin.has_change_permission(request, gap)
    if may_change:
        note_reader(gap, user)
    may_add = may_change and user.has_perm("faqs.change_faq")
    filling = filling_context(gap, may_add=may_add) if is_being_filled(gap) else {}
    may_draft = may_change and user.has_perm("faqs.add_faq") and not filling
    may_add = may_add and not filling
    suggestions, failure = load_suggestions(gap, user, only) if may_draft or may_add else (None, "")
    may_see_documents = user.has_perm("knowledge.view_document") or user.has_perm("knowledge.change_document")
    page_search = PageSearch() if may_draft and may_see_documents else None
    context = {
        **model_admin.admin_site.each_context(request),
        "title": gap.title,
        "opts": model_admin.opts,
        "gap": gap,
        "states": [(value, label) for value, label in Gap.State.choices if value != gap.state],
        "page": page,
        "pages": page.paginator.get_elided_page_range(page.number, on_each_side=2, on_ends=1),
        "asked": [_asked(question) for question in page],
        "watching": Case.objects.watching().filter(about__question__gap_question__gap=gap).count(),
        "merged": list(gap.merged.exclude(name="").values_list("name", flat=True)[:5]),
        **filling,
        **assigning_context(gap, user, unsaved.assignment),
        "readers": others_reading(gap, user),
        "comments": list(gap.comments.select_related("by")),
        "comment": unsaved.comment,
        "typed_name": gap.name if unsaved.name is None else unsaved.name,
        "here": reverse("admin:analytics_gap_change", args=[gap.pk]),
        "may_see_reviews": user.has_perm("analytics.view_review") or user.has_perm("analytics.change_review"),
        "suggestions": suggestions,
        "failure": failure,
        "only": only,
        "may_change": may_change,
        "may_draft": may_draft,
        "may_add": may_add,
        "may_see_conversations": user.has_perm("chat.view_conversation"),
        "may_see_documents": may_see_documents,
        "may_see_faqs": user.has_perm("faqs.view_faq") or user.has_perm("faqs.change_faq"),
        "page_search": page_search,
        "media": model_admin.media + (page_search.media if page_search else Media()),
    }
    return TemplateResponse(request, "admin/analytics/gap/change_form.html", context)


def load_suggestions(gap: Gap, user: "User", only: int | None) -> tuple[Suggestions | None, str]:
    """Return what may fill the gap, or the reason why that is unknown."""
    try:
        return suggest(gap, to=user, only=only), ""
    except (EmbeddingUnavailable, RerankerUnavailable, UnknownCollection) as error:
        return None, str(error)
