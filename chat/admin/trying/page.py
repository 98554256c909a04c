"""The page on which staff try a question; its address holds all that was chosen, so that it can be passed on."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from chat.admin import conversations
from chat.admin.trying.form import Staff, TryForm, asked_before
from chat.models import Message
from chat.pipeline.retrieval.profiles import UnknownProfile
from chat.playground.diagnosis import diagnose
from chat.playground.facts import collect_facts
from chat.playground.rankings import Direction, Move
from chat.playground.readings import explain_readings
from chat.playground.trial import NotAsked, Rewriter, Search, Trial, try_question
from knowledge.guardrails.signs import SIGNS
from knowledge.models import Document
from knowledge.rendering import render_markdown
from knowledge.retrieval.fusion import Fusion
from knowledge.retrieval.registry import LABELS
from knowledge.retrieval.tuning import RRF_CONSTANT

REWRITERS: Mapping[Rewriter, str | Promise] = {
    Rewriter.ALONE: _("It stands alone, so it was looked up as it is."),
    Rewriter.RULE: _("It goes on from what was said before, so the rule put the words of that before it."),
    Rewriter.RULE_AFTER_MODEL: _(
        "It goes on from what was said before. The language model gave no useful rewriting, so the rule put the words "
        "of that before it."
    ),
    Rewriter.MODEL: _("It goes on from what was said before, so the language model made it stand alone."),
}
NOT_ASKED: Mapping[NotAsked, str | Promise] = {
    NotAsked.NO_MODEL: _(
        "No language model is asked: this server has none, so the closest sentences are quoted from the pages."
    ),
    NotAsked.SWITCHED_OFF: _(
        "No language model is asked: it is switched off for this assistant, so the closest sentences are quoted."
    ),
    NotAsked.NO_QUESTION: _("No language model is asked for an answer: this gets a fixed reply."),
    NotAsked.ABSTAINED: _("No language model is asked: the assistant had decided before to give no answer."),
    NotAsked.ASKED_BACK: _("No language model is asked for an answer: the student is asked back first."),
    NotAsked.TOO_LONG: _("No language model is asked: question and sources are too long for it."),
}
#: Beside the reasons to abstain and the notices: why a document that was found is in no answer.
ASKED_BACK = _("The student was asked back first.")


def shown(trial: Trial, document: Document | None, *, may_add_faq: bool) -> dict[str, Any]:
    """Return what the templates need; `diagnosis` if a document was chosen."""
    end, profile, route = trial.end, trial.ask.profile, trial.reading.turn.route
    side = {
        "trial": trial,
        "profile": profile.name,
        "answer": render_markdown(trial.reply.text, breaks=True),
        "reason": conversations.label(conversations.REASONS, trial.reply.reason),
        "notice": conversations.label(conversations.NOTICES, end.notice),
        "status": Message.Status(end.status).label,
        "strategy": Message.Strategy(end.strategy).label,
        "evidence": end.evidence,
        "threshold": profile.threshold,
        "timings": conversations.timings(end.timings_ms or {}),
        "route": Message.Route(route).label,
        "rewriter": REWRITERS[trial.reading.rewriter] if route == Message.Route.QUESTION else "",
        "flags": [conversations.label(SIGNS, flag) for flag in trial.reading.flags],
        "not_asked": NOT_ASKED.get(trial.sent.why_not, ""),
    }
    if trial.search:
        side |= found(trial, trial.search)
        side["readings"] = explain_readings(trial.end.readings)
    if document:
        side["diagnosis"] = diagnosis = diagnose(collect_facts(document, trial), names=names())
        side["faq_url"] = faq_url(trial, document) if may_add_faq and diagnosis.would_faq_help else ""
    return side


def found(trial: Trial, search: Search) -> dict[str, Any]:
    profile = trial.ask.profile
    return {
        "search": search,
        "rankings": [
            (conversations.label(conversations.ORIGINS, ranking.origin), ranking) for ranking in search.rankings
        ],
        "fused": [
            (
                row,
                moved(row.move),
                [(conversations.label(conversations.ORIGINS, share.origin), share) for share in row.shares],
            )
            for row in search.fused
        ],
        "source_flags": [conversations.label(SIGNS, flag) for flag in search.source_flags],
        "by_score": profile.plan.fusion == Fusion.SCORES,
        "constant": RRF_CONSTANT,
        "given": profile.sources,
        "rerank_first": profile.plan.rerank_first,
    }


def moved(move: Move | None) -> str:
    match move:
        case Move(Direction.UP, places):
            return ngettext("%d place higher", "%d places higher", places) % places
        case Move(Direction.DOWN, places):
            return ngettext("%d place lower", "%d places lower", places) % places
        case Move(Direction.SAME):
            return str(_("same place"))
        case Move(Direction.ONLY_HERE):
            return str(_("only here"))
    return ""


def names() -> dict[str, str]:
    """Of the codes that a diagnosis speaks of."""
    told = {
        **LABELS,
        **conversations.ORIGINS,
        **conversations.REASONS,
        **conversations.NOTICES,
        Message.Status.CLARIFYING.value: ASKED_BACK,
    }
    return {code: str(text) for code, text in told.items()}


def faq_url(trial: Trial, document: Document) -> str:
    """Return the form for a new FAQ that asks this and links the document."""
    turn, ask = trial.reading.turn, trial.ask
    question = turn.question if turn.by_model else ask.text
    query = {
        "question": question,
        "language": ask.language,
        "collection": document.collection_id,
        "document": document.pk,
    }
    return f"{reverse('admin:faqs_faq_add')}?{urlencode(query)}"


#: What an address may choose beforehand.
CHOICES = ("assistant", "profile", "versus")
#: The two sides of a comparison.
SIDES = "AB"


@require_safe
def try_question_view(request: HttpRequest) -> HttpResponse:
    """To be wrapped in `admin.site.admin_view`; raises PermissionDenied.

    `?message=ID` fills the form with a student's question and what was said before it.
    """
    user = request.user
    if not (user.has_perm("chat.view_conversation") or user.has_perm("faqs.view_faq")):
        raise PermissionDenied
    may_see_documents = user.has_perm("knowledge.view_document") or user.has_perm("knowledge.change_document")
    initial: dict[str, Any] = {name: request.GET[name] for name in CHOICES if name in request.GET}
    failure = ""
    if "message" in request.GET:
        asked = asked_before(message_id=request.GET["message"], user=user)
        initial |= asked or {}
        failure = "" if asked else gettext("There is no such question among those that you look after.")
    data = request.GET if "question" in request.GET else None
    form = TryForm(data, initial=initial, user=user, may_see_documents=may_see_documents)
    context: dict[str, Any] = {
        **admin.site.each_context(request),
        "title": gettext("Try a question"),
        "form": form,
        "media": form.media,
        "failure": failure,
        "may_see_documents": may_see_documents,
        "may_see_faqs": user.has_perm("faqs.view_faq") or user.has_perm("faqs.change_faq"),
    }
    if form.is_bound and form.is_valid():
        context |= tried(form, user)
    return TemplateResponse(request, "admin/chat/try_question.html", context)


def tried(form: TryForm, user: Staff) -> dict[str, Any]:
    """Return the sides that the page shows, or the failure instead of them."""
    try:
        trials = try_question(form.asks())
    except UnknownProfile as error:  # deleted since the form was checked
        return {"failure": str(error)}
    document, may_add_faq = form.chosen_document, user.has_perm("faqs.add_faq")
    sides = [shown(trial, document, may_add_faq=may_add_faq) for trial in trials]
    return {
        "sides": [{"key": key, **side} for key, side in zip(SIDES, sides, strict=False)],
        "is_comparison": len(sides) > 1,
        "document": document,
    }
