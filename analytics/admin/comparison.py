"""Two runs of a set side by side: where they differ, and whether by more than chance."""

from typing import Any

from django.contrib import admin
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.formats import number_format
from django.utils.translation import gettext as _

from analytics.admin.forms import CompareForm
from analytics.admin.history import MEASURED, value_of
from analytics.evaluation.comparing import TESTED, compare
from analytics.evaluation.regressions import SIGNIFICANT
from analytics.models import EvaluationSet

FLIPS_SHOWN = 100


def compare_view(request: HttpRequest, evaluation_set: EvaluationSet, *, opts: Any, media: Any) -> HttpResponse:
    """Who may see runs is the caller's to check."""
    form = CompareForm(request.GET, evaluation_set=evaluation_set)
    if not form.is_valid():
        raise Http404
    before, after = form.cleaned_data["before"], form.cleaned_data["after"]
    found = compare(before, after)
    old, new = found.means
    rows = [
        (label, old[name], new[name], new[name] - old[name], verdict(found.p_values[name]) if name in TESTED else "")
        for name, label in MEASURED.items()
        if name in old
    ]
    curves = value_of(before, "auroc"), value_of(after, "auroc")
    better = sum(flip.is_better for flip in found.flips)
    context = {
        **admin.site.each_context(request),
        "title": _("%(before)s and %(after)s compared") % {"before": before.profile, "after": after.profile},
        "opts": opts,
        "media": media,
        "evaluation_set": evaluation_set,
        "form": form,
        "before": before,
        "after": after,
        "rows": rows,
        "curves": curves,
        "better": better,
        "worse": len(found.flips) - better,
        "flips": found.flips[:FLIPS_SHOWN],
        "more": max(0, len(found.flips) - FLIPS_SHOWN),
    }
    return TemplateResponse(request, "admin/analytics/evaluationrun/compare.html", context)


def verdict(p: float) -> str:
    """What a p value says, in plain words."""
    given = {"p": number_format(p, 3)}
    if p < SIGNIFICANT:
        return _("hardly chance (p = %(p)s)") % given
    return _("the difference may be chance (p = %(p)s)") % given
