"""Duplicates: close FAQs beside the form while somebody types, and a list of pairs to merge or to dismiss."""

import re
from datetime import date
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.core.paginator import Paginator
from django.forms import DateField
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from core.access import sees_everything
from core.inference.embeddings import EmbeddingUnavailable
from faqs.admin.warnings import warn_of_faqs
from faqs.duplicates import Near, Relation, ValidityScope, close_to, relation
from faqs.models import FAQ, FAQQuerySet, SimilarPair
from faqs.services import dismiss_pair, merge_faqs
from knowledge.models import Collection

PER_PAGE = 25
#: Shorter than this a question says too little to compare.
SHORTEST = 8
DOCUMENT_FIELD = re.compile(r"sources-\d+-document")


@require_POST
def near_view(request: HttpRequest, *, model_admin: Any) -> HttpResponse:
    """Render the FAQs close to what is typed in the form, a piece of its page; empty if there are none."""
    if not model_admin.has_view_or_change_permission(request):
        raise PermissionDenied
    question = request.POST.get("question", "").strip()[:1000]
    own = request.POST.get("faq", "")
    faq_id = int(own) if own.isdecimal() and len(own) < 19 else 0
    context: dict[str, Any] = {"near": [], "may_see": True}
    if len(question) >= SHORTEST:
        try:
            near = close_to(
                question,
                language=request.POST.get("language", "") or "en",
                but=faq_id,
                collections=None
                if sees_everything(request.user)
                else list(Collection.objects.visible_to(request.user).values_list("pk", flat=True)),
            )
        except EmbeddingUnavailable:
            context["is_away"] = True
        else:
            context["near"] = _described(near, _typed(request))
    return TemplateResponse(request, "admin/faqs/faq/near.html", context, headers={"Cache-Control": "no-store"})


@require_safe
def list_view(request: HttpRequest, *, model_admin: Any) -> HttpResponse:
    if not model_admin.has_view_or_change_permission(request):
        raise PermissionDenied
    one = request.GET.get("pair", "")
    pairs = _pairs(request).filter(pk=one) if one.isdecimal() and len(one) < 19 else _pairs(request)
    paginator = Paginator(pairs, PER_PAGE)
    page = paginator.get_page(request.GET.get("p"))
    ids = {pk for pair in page for pk in (pair.first_id, pair.second_id)}
    faqs = {faq.pk: faq for faq in FAQ.objects.with_parts().filter(pk__in=ids)}
    rows = []
    for pair in page:
        first, second = faqs[pair.first_id], faqs[pair.second_id]
        rows.append(
            {
                "pair": pair,
                "faqs": (first, second),
                "relation": relation(_holding(first), _holding(second)),
                "same_documents": _holding(first).documents == _holding(second).documents,
                "both_answer": bool(first.written_answers and second.written_answers),
            }
        )
    context = {
        **model_admin.admin_site.each_context(request),
        "title": _("Duplicates"),
        "opts": model_admin.opts,
        "rows": rows,
        "page": page,
        "pages": list(paginator.get_elided_page_range(page.number)),
        "may_change": model_admin.has_change_permission(request),
        "media": model_admin.media,
    }
    return TemplateResponse(request, "admin/faqs/faq/duplicates.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def merge_view(request: HttpRequest, pair_id: int, *, model_admin: Any) -> HttpResponse:
    """Say what merging a pair does, and do it when that was confirmed; `keep` says which of the two stays."""
    pair = get_object_or_404(_pairs(request).select_related("first", "second"), pk=pair_id)
    if not all(model_admin.has_change_permission(request, faq) for faq in (pair.first, pair.second)):
        raise PermissionDenied
    sides = {str(pair.first_id): (pair.first, pair.second), str(pair.second_id): (pair.second, pair.first)}
    chosen = sides.get((request.POST if request.method == "POST" else request.GET).get("keep", ""))
    if chosen is None:
        messages.error(request, _("Choose first which of the two you keep."))
        return redirect("admin:faqs_faq_duplicates")
    keep, other = chosen
    if not model_admin.has_publish_permission(request):
        messages.error(request, _("Merging retires one of the two: only who may publish can do that."))
        return redirect("admin:faqs_faq_duplicates")
    if request.method != "POST":
        return _ask_to_confirm(request, pair, keep, other, model_admin=model_admin)
    try:
        with_answer = request.POST.get("answer") == "take"
        merged = merge_faqs(keep=keep, other=other, with_answer=with_answer, by=request.user)
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
        return redirect("admin:faqs_faq_duplicates")
    model_admin.log_change(request, keep, [{"changed": {"fields": ["phrasings", "documents"]}}])
    model_admin.log_change(request, other, [{"changed": {"fields": ["status"]}}])
    said = _(
        "“%(other)s” is retired; its phrasings and documents are with “%(keep)s” now. To undo it, restore the version "
        "before this one under “Versions” of “%(keep)s”, and publish “%(other)s” again."
    )
    messages.success(request, said % {"other": other, "keep": keep})
    warn_of_faqs(request, [merged])
    return redirect("admin:faqs_faq_duplicates")


def _ask_to_confirm(
    request: HttpRequest, pair: SimilarPair, keep: FAQ, other: FAQ, *, model_admin: Any
) -> HttpResponse:
    known = {keep.question, *keep.phrasings.values_list("text", flat=True)}
    phrasings = [other.question, *other.phrasings.values_list("text", flat=True)]
    linked = set(keep.sources.values_list("document_id", flat=True))
    context = {
        **model_admin.admin_site.each_context(request),
        "title": _("Merge two FAQs"),
        "opts": model_admin.opts,
        "pair": pair,
        "keep": keep,
        "other": other,
        "phrasings": [text for text in dict.fromkeys(phrasings) if text not in known],
        "documents": [
            each.document for each in other.sources.select_related("document") if each.document_id not in linked
        ],
        "loses_answer": bool(other.written_answers and keep.written_answers),
        "media": model_admin.media,
    }
    return TemplateResponse(request, "admin/faqs/faq/merge.html", context)


@require_POST
def dismiss_view(request: HttpRequest, pair_id: int, *, model_admin: Any) -> HttpResponse:
    pair = get_object_or_404(_pairs(request).select_related("first", "second"), pk=pair_id)
    if not model_admin.has_change_permission(request):
        raise PermissionDenied
    dismiss_pair(pair=pair, by=request.user)
    for faq, other in ((pair.first, pair.second), (pair.second, pair.first)):
        model_admin.log_change(request, faq, _("No duplicate of “%(question)s”.") % {"question": other.question[:200]})
    messages.success(request, _("Noted: these two are no duplicates and are not shown together again."))
    return redirect("admin:faqs_faq_duplicates")


def _pairs(request: HttpRequest) -> Any:
    return SimilarPair.objects.visible_to(request.user).to_look_at()


def _described(near: list[Near], typed: ValidityScope) -> list[dict[str, Any]]:
    found: FAQQuerySet = FAQ.objects.with_parts().filter(pk__in=[each.faq_id for each in near])
    faqs = {faq.pk: faq for faq in found}
    return [
        {
            "faq": faqs[each.faq_id],
            "similarity": each.similarity,
            "relation": relation(typed, _holding(faqs[each.faq_id])) if each.asks_the_same else Relation.APART,
            "asks_the_same": each.asks_the_same,
        }
        for each in near
        if each.faq_id in faqs
    ]


def _holding(faq: FAQ) -> ValidityScope:
    documents = frozenset(source.document_id for source in faq.sources.all())
    return ValidityScope(documents, faq.valid_from, faq.valid_until, frozenset(faq.written_answers.values()))


def _typed(request: HttpRequest) -> ValidityScope:
    """Read the scope that the form has so far; an unfinished date counts as none."""
    named = {str(value) for name, value in request.POST.items() if DOCUMENT_FIELD.fullmatch(name)}
    begin, end = (_day(request.POST.get(name, "")) for name in ("valid_from", "valid_until"))
    return ValidityScope(frozenset(int(value) for value in named if value.isdecimal()), begin, end)


def _day(text: str) -> date | None:
    try:
        day: date | None = DateField(required=False).clean(text)
        return day
    except ValidationError:
        return None
