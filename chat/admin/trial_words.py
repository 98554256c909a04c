"""A trial as the page shows it: codes in words."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from chat.admin import labels
from chat.models import Message
from chat.playground.comparing import Direction, Move
from chat.playground.diagnosing import diagnose
from chat.playground.explaining import facts_of
from chat.playground.sending import NotAsked
from chat.playground.trying import Rewriter, Search, Trial
from knowledge.guarding.signs import SIGNS
from knowledge.models import Document
from knowledge.retrieval.fusion import RRF_CONSTANT, Fusion

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
    NotAsked.NO_QUESTION: _("No language model is asked for an answer: this gets a fixed reply."),
    NotAsked.ABSTAINED: _("No language model is asked for an answer: the assistant abstained before."),
    NotAsked.ASKED_BACK: _("No language model is asked for an answer: the student is asked back first."),
    NotAsked.TOO_LONG: _("No language model is asked: question and sources are too long for it (LLM_CONTEXT_TOKENS)."),
}
#: Beside the reasons to abstain and the notices: why a document that was found is in no answer.
ASKED_BACK = _("The student was asked back first.")


def shown(trial: Trial, document: Document | None, *, may_add_faq: bool) -> dict[str, Any]:
    """What the templates need; `diagnosis` where a document was chosen."""
    end, profile, route = trial.end, trial.ask.profile, trial.reading.turn.route
    side = {
        "trial": trial,
        "profile": profile.name,
        "reason": labels.label(labels.REASONS, trial.reply.reason),
        "notice": labels.label(labels.NOTICES, end.notice),
        "status": Message.Status(end.status).label,
        "strategy": Message.Strategy(end.strategy).label,
        "evidence": end.evidence,
        "threshold": profile.threshold,
        "timings": labels.timings(end.timings_ms or {}),
        "route": Message.Route(route).label,
        "rewriter": REWRITERS[trial.reading.rewriter] if route == Message.Route.QUESTION else "",
        "flags": [labels.label(SIGNS, flag) for flag in trial.reading.flags],
        "not_asked": NOT_ASKED.get(trial.sent.why_not, ""),
    }
    if trial.search:
        side |= found(trial, trial.search)
    if document:
        side["diagnosis"] = diagnosis = diagnose(facts_of(document, trial), names=names())
        side["faq_url"] = faq_url(trial, document) if may_add_faq and diagnosis.would_faq_help else ""
    return side


def found(trial: Trial, search: Search) -> dict[str, Any]:
    profile = trial.ask.profile
    return {
        "search": search,
        "rankings": [(labels.label(labels.ORIGINS, ranking.origin), ranking) for ranking in search.rankings],
        "fused": [
            (row, moved(row.move), [(labels.label(labels.ORIGINS, share.origin), share) for share in row.shares])
            for row in search.fused
        ],
        "source_flags": [labels.label(SIGNS, flag) for flag in search.source_flags],
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
    told = {**labels.ORIGINS, **labels.REASONS, **labels.NOTICES, Message.Status.CLARIFYING.value: ASKED_BACK}
    return {code: str(text) for code, text in told.items()}


def faq_url(trial: Trial, document: Document) -> str:
    """The form for a new FAQ that asks this and links the document."""
    turn, ask = trial.reading.turn, trial.ask
    question = turn.question if turn.by_model else ask.text
    query = {
        "question": question,
        "language": ask.language,
        "collection": document.collection_id,
        "document": document.pk,
    }
    return f"{reverse('admin:faqs_faq_add')}?{urlencode(query)}"
