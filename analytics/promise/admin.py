"""The page of an assistant's promise: what the verdicts support, what it costs, and its threshold in one click."""

import math
from typing import TYPE_CHECKING, Any, cast

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.contrib.admin.models import CHANGE, LogEntry
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods

from analytics.charts import Chart, ChartRow, chart_data
from analytics.dashboard.formatting import decimal, percent
from analytics.dashboard.visibility import SEE_SMALL_GROUPS
from analytics.promise.calibration import (
    MISS,
    Form,
    Point,
    choose_threshold,
    curve,
    grid,
    least_outcomes,
    outcomes_to_keep,
)
from analytics.promise.services import keep_promise, lowest_threshold, outcomes_of
from analytics.quality.admin import VIEW
from analytics.quality.figures import read_judged
from chat.models import Assistant

if TYPE_CHECKING:
    from django.contrib.auth.models import User

CHANGE_ASSISTANT = "chat.change_assistant"
FORMS = [
    (Form.MEAN.value, gettext_lazy("On average")),
    (Form.PROBABLE.value, gettext_lazy("With a probability of 90 %")),
]


class PromiseForm(forms.Form):
    """The highest share of questions that may get a wrong answer, and whether it holds on average or almost surely."""

    share = forms.IntegerField(label=gettext_lazy("Wrong answers at most, in %"), min_value=1, max_value=50, initial=5)
    form = forms.ChoiceField(label=gettext_lazy("How it holds"), choices=FORMS, initial=Form.MEAN.value)


@require_http_methods(["GET", "HEAD", "POST"])
def promise_view(request: HttpRequest, assistant_id: int) -> HttpResponse:
    """Show what a promise needs and costs; a POST sets its threshold. Raise PermissionDenied, Http404."""
    user = cast("User", request.user)
    may_apply = user.has_perm(CHANGE_ASSISTANT)
    if not user.has_perm(VIEW) or (request.method == "POST" and not may_apply):
        raise PermissionDenied
    assistant = get_object_or_404(Assistant.objects.visible_to(user).select_related("profile"), pk=assistant_id)
    initial = {name: field.initial for name, field in PromiseForm.base_fields.items()}
    form = PromiseForm(request.POST if request.method == "POST" else {**initial, **request.GET.dict()})
    if form.is_valid() and request.method == "POST":
        return _apply(request, user, assistant, form.cleaned_data)
    context = {
        **admin.site.each_context(request),
        "title": _("Promise: %(assistant)s") % {"assistant": assistant},
        "assistant": assistant,
        "form": form,
        "may_apply": may_apply,
        **(_support(assistant, user, form.cleaned_data) if form.is_valid() else {}),
    }
    return TemplateResponse(request, "admin/analytics/quality/promise.html", context)


def _apply(request: HttpRequest, user: "User", assistant: Assistant, chosen: dict[str, Any]) -> HttpResponse:
    try:
        with transaction.atomic():
            changed = keep_promise(assistant=assistant, promise=chosen["share"] / 100, form=Form(chosen["form"]))
            fields: Any = [{"changed": {"fields": ["evidence_needed"]}}]
            LogEntry.objects.log_actions(user.pk, [changed], CHANGE, fields, single_object=True)
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
    else:
        said = _("The assistant needs evidence of %(threshold)s from now on.")
        messages.success(request, said % {"threshold": decimal(changed.evidence_needed or 0, 2)})
    address = request.path
    return redirect(f"{address}?{urlencode({'share': chosen['share'], 'form': chosen['form']})}")


def _support(assistant: Assistant, user: "User", chosen: dict[str, Any]) -> dict[str, Any]:
    promise, form = chosen["share"] / 100, Form(chosen["form"])
    judged, lowest = read_judged(assistant), lowest_threshold(assistant)
    outcomes = outcomes_of(judged, lowest=lowest)
    needed = least_outcomes(promise, form)
    least = 1 if user.has_perm(SEE_SMALL_GROUPS) else settings.SMALLEST_GROUP
    facts: dict[str, Any] = {
        "count": len(outcomes),
        "needed": needed,
        "today": decimal(lowest, 2),
        "promised": percent(promise),
        "sure": percent(1 - MISS),
        "is_mean": form is Form.MEAN,
        "hides": bool(judged) and sum(each.is_newcomer for each in judged) < least,
    }
    if len(outcomes) < needed or facts["hides"]:
        return facts
    points = curve(outcomes, grid(lowest))
    chosen_at = choose_threshold(outcomes, promise, form, lowest=lowest)
    point = next((each for each in points if each.threshold == chosen_at), None)
    return facts | {
        "has_enough": True,
        "wrong_today": percent(points[0].wrong),
        "more": outcomes_to_keep(points[0].wrong, promise, form),
        "threshold": None if point is None else decimal(point.threshold, 2),
        "is_today": point is points[0],
        "wrong": None if point is None else percent(point.wrong),
        "answered": None if point is None else percent(point.answered),
        "answered_today": percent(points[0].answered),
        "always": any(each.score == math.inf and each.is_shown for each in outcomes),
        "chart": _chart(points),
    }


def _chart(points: list[Point]) -> Chart:
    last = max((at for at, point in enumerate(points) if point.answered != points[-1].answered), default=0)
    shown = points[: last + 2]
    names = [decimal(point.threshold, 2) for point in shown]
    return Chart(
        "promise",
        _("Wrong answers and abstentions by threshold"),
        _("With a higher threshold fewer answers are wrong, and fewer questions are answered."),
        [_("Threshold"), _("Wrong answers, of all questions"), _("Abstained, of all questions")],
        [
            ChartRow(name, [percent(point.wrong), percent(1 - point.answered)])
            for name, point in zip(names, shown, strict=True)
        ],
        chart_data(
            "line",
            names,
            {
                _("Wrong answers, in %"): [round(point.wrong * 100, 1) for point in shown],
                _("Abstained, in %"): [round((1 - point.answered) * 100, 1) for point in shown],
            },
        ),
    )
