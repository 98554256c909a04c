"""The page of an assistant's language model: which one, how its trial went, and whether it writes at all."""

from typing import TYPE_CHECKING, Any, cast

from django.contrib import admin, messages
from django.contrib.admin.models import CHANGE, LogEntry
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from analytics.model_trials.report import describe_layout, describe_progress, make_report
from analytics.model_trials.services import cancel_trial, start_trial
from analytics.models import ModelTrial
from chat.models import Assistant, ModelLayout
from chat.services.prompts import switch_model
from core.inference.llm import client

if TYPE_CHECKING:
    from django.contrib.auth.models import User

PAGE = "language-model"


@require_safe
def language_model_view(request: HttpRequest, assistant_id: int) -> HttpResponse:
    """Show the page. Raise PermissionDenied, Http404."""
    assistant = _assistant(request, assistant_id)
    trials = ModelTrial.objects.filter(assistant=assistant, model=assistant.model_name)
    newest = trials.select_related("requested_by", "assistant").first()
    finished = trials.filter(state=ModelTrial.State.FINISHED).select_related("assistant").first()
    layout = ModelLayout.objects.filter(model=assistant.model_name).first()
    shown = finished or newest
    context = {
        **admin.site.each_context(request),
        "title": _("Language model of %(assistant)s") % {"assistant": assistant},
        "assistant": assistant,
        "has_model": client.is_configured(),
        "chosen_at": layout.chosen_at if layout else None,
        "layout": describe_layout(layout.layout) if layout else "",
        "trial": newest,
        "message": describe_progress(newest) if newest else "",
        "is_active": bool(newest and newest.is_active),
        "goes_on": bool(newest and newest.state in {ModelTrial.State.FAILED, ModelTrial.State.CANCELLED}),
        "shown": shown,
        "report": make_report(shown) if shown else None,
        "may_change": request.user.has_perm("chat.change_assistant"),
    }
    return TemplateResponse(request, "admin/analytics/modeltrial/page.html", context)


@require_safe
def trial_progress_view(request: HttpRequest, assistant_id: int) -> JsonResponse:
    """Return what the page polls every two seconds while a trial is active. Raise PermissionDenied, Http404."""
    assistant = _assistant(request, assistant_id)
    trial = ModelTrial.objects.filter(assistant=assistant).first()
    state = {
        "state": trial.get_state_display() if trial else "",
        "message": describe_progress(trial) if trial else "",
        "counts": {"done": trial.done, "total": trial.total} if trial else {},
        "is_active": bool(trial and trial.is_active),
    }
    return JsonResponse(state, headers={"Cache-Control": "no-store"})


@require_POST
def trial_start_view(request: HttpRequest, assistant_id: int) -> HttpResponse:
    """Start a trial, or go on with the one that ended early. Raise PermissionDenied, Http404."""
    assistant = _assistant(request, assistant_id, changes=True)
    try:
        start_trial(assistant=assistant, by=_user(request))
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
    else:
        _log(request, assistant, _("trial of the language model started"))
    return redirect(PAGE, assistant.pk)


@require_POST
def trial_stop_view(request: HttpRequest, assistant_id: int) -> HttpResponse:
    """Stop the trial that waits or runs. Raise PermissionDenied, Http404."""
    assistant = _assistant(request, assistant_id, changes=True)
    trial = ModelTrial.objects.active().filter(assistant=assistant).first()
    if trial and cancel_trial(trial=trial):
        _log(request, assistant, _("trial of the language model stopped"))
        messages.success(
            request, _("The trial was stopped. What it found is kept, and the next start goes on from it.")
        )
    return redirect(PAGE, assistant.pk)


@require_POST
def model_switch_view(request: HttpRequest, assistant_id: int) -> HttpResponse:
    """Have a language model write for the assistant, or quotes alone. Raise PermissionDenied, Http404."""
    assistant = _assistant(request, assistant_id, changes=True)
    is_on = request.POST.get("uses_model") == "on"
    switch_model(assistant=assistant, is_on=is_on)
    field = str(Assistant._meta.get_field("uses_model").verbose_name)
    _log(request, assistant, field)
    said = _("The language model writes from the next question on.") if is_on else _("Pages are quoted from now on.")
    messages.success(request, said)
    return redirect(PAGE, assistant.pk)


def _assistant(request: HttpRequest, pk: int, *, changes: bool = False) -> Assistant:
    user = _user(request)
    may_see = user.has_perm("chat.view_assistant") or user.has_perm("chat.change_assistant")
    if not may_see or (changes and not user.has_perm("chat.change_assistant")):
        raise PermissionDenied
    return get_object_or_404(Assistant.objects.visible_to(user).select_related("prompt", "profile"), pk=pk)


def _log(request: HttpRequest, assistant: Assistant, field: str) -> None:
    changed: list[dict[str, Any]] = [{"changed": {"fields": [field]}}]
    LogEntry.objects.log_actions(_user(request).pk, cast("Any", [assistant]), CHANGE, changed, single_object=True)


def _user(request: HttpRequest) -> "User":
    return cast("User", request.user)
