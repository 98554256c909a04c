"""The page that tells why an answer was given: what was read at its moment, and the same question asked again today."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.conf import settings
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods

from chat.admin.conversations import NOTICES, REASONS, label
from chat.admin.trying.form import Staff, asked_before
from chat.models import Assistant, Citation, Conversation, Message
from chat.pipeline.moment import with_citations
from chat.pipeline.question import build_question
from chat.playground.comparison import Compared, Comparison, Fate, compare_moments
from chat.playground.trial import Trial, try_question
from chat.protocol.moment import Moment, read_moment
from chat.protocol.shapes import Source
from core.diffs import Comparison as Diff
from core.diffs import compare
from knowledge.chunking.plain_text import make_plain
from knowledge.rendering import render_markdown
from knowledge.retrieval.registry import LABELS

FATES: dict[tuple[str, Fate], str | Promise] = {
    ("then", Fate.SAME): _("read today too"),
    ("then", Fate.CHANGED): _("other words today"),
    ("then", Fate.OUTRANKED): _("not read today"),
    ("then", Fate.GONE): _("gone today"),
    ("now", Fate.SAME): _("read then too"),
    ("now", Fate.CHANGED): _("other words then"),
    ("now", Fate.NEW): _("not read then"),
}


@dataclass(frozen=True, slots=True)
class ShownPassage:
    """`fate` says in words what became of it; `diff` is from its words then to those of today."""

    passage: Any
    code: str
    fate: str
    diff: Diff | None

    @property
    def excerpt(self) -> str:
        return make_plain(self.passage.text)


@dataclass(frozen=True, slots=True)
class Side:
    """One side of the page: the answer then, or the one of today."""

    key: str
    text: SafeString
    language: str
    status: str
    status_name: str
    strategy: str
    reason: str
    notice: str
    evidence: float | None
    sources: Sequence[tuple[Citation | Source, int | None]]
    moment: Moment
    passages: Sequence[ShownPassage]

    @property
    def retrievers(self) -> list[tuple[str, float, int]]:
        """Name each retriever with its weight and how many passages it finds."""
        used = self.moment.profile.retrievers
        return [(str(LABELS.get(each.name, each.name)), each.weight, each.k) for each in used]


@require_http_methods(["GET", "HEAD", "POST"])
def why_answer_view(request: HttpRequest, message_id: int) -> HttpResponse:
    """To be wrapped in `admin.site.admin_view`; raises PermissionDenied. A POST asks again, and saves nothing."""
    user = request.user
    if not user.has_perm("chat.view_conversation"):
        raise PermissionDenied
    answer = find_answer(message_id, user)
    record = getattr(answer, "record", None)
    then = read_moment(record.moment) if record else None
    context: dict[str, Any] = {
        **admin.site.each_context(request),
        "title": gettext("Why this answer"),
        "answer": answer,
        "question": answer.question,
        "conversation": answer.conversation,
        "days": settings.ANSWER_RECORD_DAYS,
        "may_see_documents": user.has_perm("knowledge.view_document"),
        "may_see_faqs": user.has_perm("faqs.view_faq"),
    }
    if then is None:
        return TemplateResponse(request, "admin/chat/why/page.html", context)
    if request.method != "POST":
        context["sides"] = [side_then(answer, then, None)]
        return TemplateResponse(request, "admin/chat/why/page.html", context)
    trial = ask_again(answer, user)
    now = with_citations(trial.end.moment, trial.reply.cited) if trial.end.moment else None
    comparison = compare_moments(then, now) if now else None
    context |= {
        "is_asked": True,
        "differences": [*outcomes(answer, trial), *(comparison.differences if comparison else [])],
        "is_another_text": answer.text != trial.reply.text,
        "sides": [side_then(answer, then, comparison), *([side_now(trial, now, comparison)] if now else [])],
    }
    return TemplateResponse(request, "admin/chat/why/page.html", context)


def find_answer(message_id: int, user: Staff) -> Message:
    """Return an answer in a conversation that the member of staff may read; no reply to a cry for help."""
    mine = Conversation.objects.visible_to(user)
    answers = Message.objects.without_help().filter(role=Message.Role.ASSISTANT, conversation__in=mine.order_by())
    answers = answers.exclude(question=None).select_related("conversation__assistant", "question", "record")
    found: Message = get_object_or_404(answers.prefetch_related("citations"), pk=message_id)
    return found


def ask_again(answer: Message, user: Staff) -> Trial:
    """Ask the same after what was said before it, as the assistant is today; nothing is saved."""
    asked = asked_before(message_id=str(answer.question_id), user=user)
    if asked is None:
        raise Http404
    assistant: Assistant | None = answer.conversation.assistant
    said = [(role, text) for pair in asked["pairs"] for role, text in zip(("user", "assistant"), pair, strict=True)]
    ask = replace(
        build_question(assistant, asked["question"], answer.language or "en"),
        history=tuple(turn for turn in said if turn[1]),
        audience=tuple(answer.conversation.audience),
    )
    (trial,) = try_question([ask])
    return trial


def outcomes(answer: Message, trial: Trial) -> list[str]:
    """Say what else became of the question."""
    if answer.status == trial.end.status:
        return []
    then, now = answer.get_status_display(), Message.Status(trial.end.status).label
    return [gettext("The outcome was “%(then)s” then and is “%(now)s” today.") % {"then": then, "now": now}]


def side_then(answer: Message, moment: Moment, comparison: Comparison | None) -> Side:
    read = comparison.then if comparison else [Compared(each, Fate.SAME) for each in moment.passages]
    return Side(
        key="then",
        text=render_markdown(answer.text, breaks=True),
        language=answer.language,
        status=answer.status,
        status_name=answer.get_status_display(),
        strategy=str(Message.Strategy(answer.strategy).label) if answer.strategy else "",
        reason=label(REASONS, answer.reason),
        notice=label(NOTICES, answer.notice),
        evidence=answer.evidence,
        sources=[(citation, citation.document_id) for citation in answer.citations.all()],
        moment=moment,
        passages=[_shown(each, "then" if comparison else "") for each in read],
    )


def side_now(trial: Trial, moment: Moment, comparison: Comparison | None) -> Side:
    end, reply = trial.end, trial.reply
    return Side(
        key="now",
        text=render_markdown(reply.text, breaks=True),
        language=trial.ask.language,
        status=end.status,
        status_name=str(Message.Status(end.status).label),
        strategy=str(Message.Strategy(end.strategy).label) if end.strategy else "",
        reason=label(REASONS, reply.reason),
        notice=label(NOTICES, end.notice),
        evidence=end.evidence,
        sources=list(reply.sources),
        moment=moment,
        passages=[_shown(each, "now") for each in (comparison.now if comparison else ())],
    )


def _shown(compared: Compared, side: str) -> ShownPassage:
    """`side` is empty where there is nothing to compare with."""
    has_diff = side == "then" and compared.fate == Fate.CHANGED and compared.other
    return ShownPassage(
        passage=compared.passage,
        code=compared.fate.value if side else "",
        fate=str(FATES[side, compared.fate]) if side else "",
        diff=compare(compared.passage.text, compared.other) if has_diff else None,
    )
