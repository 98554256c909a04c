"""The page of an assistant's quality over time, and the page on which staff judge the sample one by one."""

from typing import TYPE_CHECKING, Any, cast

from django.conf import settings
from django.contrib import admin, messages
from django.contrib.admin.models import CHANGE, LogEntry
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from analytics.charts import Chart, ChartRow, Suppression, chart_data
from analytics.dashboard.formatting import NOTHING, decimal, percent, whole
from analytics.dashboard.visibility import SEE_SMALL_GROUPS
from analytics.evaluation.answers.configured import is_configured
from analytics.models import QualityDrop, SampledAnswer
from analytics.periods import Step
from analytics.quality.figures import Judged, Week, by_week, pairs_with_model, read_sample, verdict_pairs
from analytics.quality.judging import judge_answer, left_to_judge, verdicts_for
from analytics.quality.statistics import Kappa, cohens_kappa
from chat.admin.conversations import build_turn
from chat.admin.held_back import prefetch_held_back
from chat.models import Assistant, Message

if TYPE_CHECKING:
    from django.contrib.auth.models import User

VIEW, JUDGE = "analytics.view_sampledanswer", "analytics.change_sampledanswer"


@require_safe
def quality_view(request: HttpRequest) -> HttpResponse:
    """Show one assistant's quality over time; `admin.site.admin_view` wraps it. Raise PermissionDenied."""
    user = cast("User", request.user)
    if not user.has_perm(VIEW):
        raise PermissionDenied
    assistants = list(Assistant.objects.visible_to(user).order_by("name", "pk"))
    named = {str(each.pk): each for each in assistants}
    assistant = named.get(request.GET.get("assistant", "")) or next(iter(assistants), None)
    may_judge = user.has_perm(JUDGE)
    context = {
        **admin.site.each_context(request),
        "title": _("Quality of answers"),
        "assistants": assistants,
        "assistant": assistant,
        "size": settings.QUALITY_SAMPLE,
        "judging_model": settings.JUDGE_MODEL if is_configured() else "",
        "may_judge": may_judge,
        "left": left_to_judge(user).count() if may_judge else 0,
        **(_figures(assistant, user) if assistant else {}),
    }
    return TemplateResponse(request, "admin/analytics/quality/page.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def judge_view(request: HttpRequest) -> HttpResponse:
    """Show the next answer that the member has not judged, and save their verdict. Raise PermissionDenied, Http404."""
    user = cast("User", request.user)
    if not user.has_perm(JUDGE):
        raise PermissionDenied
    if request.method == "POST":
        return _judge(request, user)
    left = left_to_judge(user)
    answer = left.select_related("assistant").first()
    context = {
        **admin.site.each_context(request),
        "title": _("Judge an answer"),
        "answer": answer,
        "left": left.count(),
        **(_said(answer, user) if answer else {}),
    }
    return TemplateResponse(request, "admin/analytics/quality/judge.html", context)


def _judge(request: HttpRequest, user: "User") -> HttpResponse:
    given = request.POST.get("answer", "")
    own = SampledAnswer.objects.visible_to(user).exclude(message=None)
    answer = get_object_or_404(own, pk=int(given) if given.isdecimal() and len(given) < 19 else 0)
    try:
        with transaction.atomic():
            judge_answer(answer=answer, verdict=request.POST.get("verdict", ""), by=user)
            changed: Any = [{"changed": {"fields": ["verdict"]}}]
            LogEntry.objects.log_actions(user.pk, [answer], CHANGE, changed, single_object=True)
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
    return redirect("quality-judge")


def _said(answer: SampledAnswer, user: "User") -> dict[str, Any]:
    rows = Message.objects.select_related("question", "feedback").prefetch_related("citations", prefetch_held_back())
    message = rows.get(sampled=answer)
    before = rows.filter(conversation=message.conversation_id, pk__lt=message.question_id or message.pk)
    return {
        "before": [build_turn(each, user) for each in reversed(before.order_by("-pk")[:4])],
        "asked": build_turn(message.question, user) if message.question else None,
        "turn": build_turn(message, user),
        "citations": message.citations.all(),
        "verdicts": [(each.value, each.label) for each in verdicts_for(answer)],
    }


def _figures(assistant: Assistant, user: "User") -> dict[str, Any]:
    least = 1 if user.has_perm(SEE_SMALL_GROUPS) else settings.SMALLEST_GROUP
    sample = read_sample(assistant)
    staff, both = _side(sample.staff, least=least), [each for each in sample.staff if each.of_model]
    kappa = None if staff["hides"] else cohens_kappa(verdict_pairs(sample.staff))
    with_model = None if _are_few(both, least) else cohens_kappa(pairs_with_model(both))
    model = _side(sample.model, least=least)
    weeks, of_model = by_week(sample.staff, least=least), by_week(sample.model, least=least)
    return {
        "least": least,
        "staff": staff,
        "model": model,
        "kappa": kappa and _kappa_facts(kappa),
        "is_compared": not _are_few(both, least),
        "model_kappa": with_model and _kappa_facts(with_model),
        "is_watched_by_model": sample.is_watched_by_model,
        "drop": _drop(assistant, sample.watched, least=least),
        "chart": _chart(weeks, of_model, least=least) if staff["right"] or model["right"] else None,
    }


def _side(judged: list[Judged], *, least: int) -> dict[str, Any]:
    """Return what is shown of staff's verdicts or of the model's."""
    hides = _are_few(judged, least)
    right = None if hides else percent(sum(each.is_right for each in judged) / len(judged))
    return {"judged": len(judged), "hides": hides and bool(judged), "right": right}


def _are_few(judged: list[Judged], least: int) -> bool:
    return sum(each.is_newcomer for each in judged) < least or not judged


def _kappa_facts(kappa: Kappa) -> dict[str, Any]:
    return {
        "items": kappa.items,
        "value": decimal(kappa.value, 2),
        "low": decimal(kappa.low, 2),
        "high": decimal(kappa.high, 2),
        "agreed": percent(kappa.agreed),
        "word": _kappa_word(kappa.value),
    }


def _kappa_word(value: float) -> str:
    """Return what Landis and Koch (1977) call an agreement."""
    if value > 0.8:
        return _("almost perfect agreement")
    if value > 0.6:
        return _("substantial agreement")
    if value > 0.4:
        return _("moderate agreement")
    if value > 0.2:
        return _("fair agreement: talk about what is right and what is wrong")
    return _("slight agreement: talk about what is right and what is wrong before you rely on these figures")


def _drop(assistant: Assistant, judged: list[Judged], *, least: int) -> dict[str, Any] | None:
    """Return the drop that goes on, with its shares unless they are about fewer than `least` people."""
    drop = QualityDrop.objects.filter(assistant=assistant, ended_at=None).first()
    if drop is None:
        return None
    people = sum(each.is_newcomer for each in judged if each.day >= drop.first_day)
    shares = {"share": percent(drop.share), "before": percent(drop.share_before)} if people >= least else {}
    return {"since": drop.first_day, **shares}


def _chart(staff: list[Week], model: list[Week], *, least: int) -> Chart:
    """Draw staff's line, and the model's where it has judged; a week that one of both has not judged is a gap."""
    sides = [({week.monday: week for week in weeks}, name) for weeks, name in _named_sides(staff, model)]
    mondays = sorted({monday for weeks, _name in sides for monday in weeks})
    names = [date_format(monday, "SHORT_DATE_FORMAT") for monday in mondays]
    rows = [
        ChartRow(name, [cell for weeks, _name in sides for cell in _cells(weeks.get(monday))])
        for name, monday in zip(names, mondays, strict=True)
    ]
    heads = [head for _weeks, (_line, *heads) in sides for head in heads]
    lines = {line: [_in_percent(weeks.get(monday)) for monday in mondays] for weeks, (line, *_heads) in sides}
    return Chart(
        "quality",
        _("Right answers by week"),
        " ".join(_newest(weeks, by_model=weeks is model) for weeks in (staff, model) if _shown(weeks)),
        [_("Week from"), *heads],
        rows,
        chart_data("line", names, lines),
        # A share of 0 % is a figure: all weeks are hidden only if none has a share.
        None if any(map(_shown, (staff, model))) else Suppression(least, Step.WEEK),
    )


def _named_sides(staff: list[Week], model: list[Week]) -> list[tuple[list[Week], tuple[str, str, str]]]:
    """Return who judged, each with the names of the line and of the table's columns."""
    if not model:
        return [(staff, (_("Right, in %"), _("Right"), _("Judged answers")))]
    return [
        (staff, (_("Right by staff, in %"), _("Right by staff"), _("Judged by staff"))),
        (model, (_("Right by the model, in %"), _("Right by the model"), _("Judged by the model"))),
    ]


def _shown(weeks: list[Week]) -> list[Week]:
    return [week for week in weeks if week.share is not None]


def _cells(week: Week | None) -> list[str]:
    return [NOTHING, NOTHING] if week is None or week.share is None else [percent(week.share), whole(week.judged)]


def _in_percent(week: Week | None) -> float | None:
    return None if week is None or week.share is None else round(week.share * 100, 1)


def _newest(weeks: list[Week], *, by_model: bool) -> str:
    newest = _shown(weeks)[-1]
    said = (
        _("By the judging model %(share)s right in its newest week that is shown, of %(count)s answers.")
        if by_model
        else _("%(share)s right in the newest week that is shown, of %(count)s answers.")
    )
    return said % {"share": percent(newest.share or 0), "count": whole(newest.judged)}
