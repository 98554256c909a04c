"""The page that decides a conflict between a correction and its source, and the way back to what was read."""

from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.utils.translation import gettext, gettext_lazy
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from core.admin.markdown_widget import MarkdownTextarea
from core.diffs import compare
from knowledge.admin.corrections.shown import show_places
from knowledge.admin.document_history import may_restore
from knowledge.corrections.merging import Merged, Words
from knowledge.corrections.readings import merge_with
from knowledge.models import Correction, Document
from knowledge.rendering import list_references
from knowledge.services.corrections import (
    Corrected,
    DecidedMeanwhile,
    read_corrected,
    restore_original,
    save_merged,
    take_new_text,
)

KEEP, TAKE, SAVE = "keep", "take", "save"


class WordsForm(forms.Form):
    """The text that is to be read from now on."""

    title = forms.CharField(label=gettext_lazy("Title"), max_length=500)
    text = forms.CharField(
        label=gettext_lazy("Text"), strip=False, widget=MarkdownTextarea({"rows": 24, "class": "document-text"})
    )


@require_http_methods(["GET", "HEAD", "POST"])
def correction_view(request: HttpRequest, document_id: int, *, model_admin: Any) -> HttpResponse:
    """Show what was read, the correction and what the source says now; a POST decides. Raises PermissionDenied."""
    document = _visible(request, document_id, model_admin)
    seen = read_corrected(document)
    if request.method == "POST":
        if not may_restore(model_admin, request, document):
            raise PermissionDenied
        return _decide(request, seen, model_admin)
    if seen.correction is None or not seen.correction.is_conflict:
        messages.info(request, _("Nothing is to be decided here: it is decided, or the source went back."))
        return redirect("admin:knowledge_document_change", document.pk)
    return _page(request, seen, model_admin)


@require_POST
def original_view(request: HttpRequest, document_id: int, *, model_admin: Any) -> HttpResponse:
    """Go back to the text as it was read. Raises PermissionDenied."""
    document = _visible(request, document_id, model_admin)
    if not may_restore(model_admin, request, document):
        raise PermissionDenied
    try:
        saved = restore_original(document=document, state=request.POST.get("correction_state", ""))
    except DecidedMeanwhile:
        messages.error(request, _("Nothing was changed: the document is not as you saw it any more. Look again."))
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
    else:
        model_admin.log_change(request, saved, gettext("went back to the text as it was read"))
        messages.success(request, _("It says again what was read. The correction is kept among its versions."))
    return redirect("admin:knowledge_document_change", document_id)


def _visible(request: HttpRequest, document_id: int, model_admin: Any) -> Document:
    """Return the document; raises Http404, PermissionDenied."""
    document = get_object_or_404(Document.objects.visible_to(request.user).select_related("collection"), pk=document_id)
    if not model_admin.has_view_or_change_permission(request, document):
        raise PermissionDenied
    return document


def _decide(request: HttpRequest, seen: Corrected, model_admin: Any) -> HttpResponse:
    document, step = seen.document, request.POST.get("step", "")
    form = WordsForm(request.POST) if step == SAVE else None
    if step not in {KEEP, TAKE, SAVE}:
        raise PermissionDenied
    if form and not form.is_valid():
        return _page(request, seen, model_admin, form=form)
    state = request.POST.get("state", "")
    try:
        if step == TAKE:
            saved, said = take_new_text(document=document, state=state), gettext("took the new text of the source")
        elif form:
            words = Words(form.cleaned_data["title"], form.cleaned_data["text"])
            saved = save_merged(document=document, words=words, state=state)
            said = gettext("joined its correction with the new text of the source")
        else:
            saved = save_merged(document=document, words=_kept(seen), state=state)
            said = gettext("kept its correction")
    except DecidedMeanwhile:
        return _meet(request, document, model_admin, form)
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
        return _page(request, seen, model_admin, form=form)
    model_admin.log_change(request, saved, said)
    messages.success(request, _("Decided. Questions find the text as it is now within seconds."))
    return redirect("admin:knowledge_document_change", document.pk)


def _kept(seen: Corrected) -> Words:
    """Return the correction with what the source changed elsewhere. Raises DecidedMeanwhile."""
    if seen.correction is None or not seen.correction.is_conflict:
        raise DecidedMeanwhile
    return _merge(seen.document, seen.correction).words


def _merge(document: Document, correction: Correction) -> Merged:
    new = Words(correction.new_title, correction.new_text)
    return merge_with(document, correction, new, correction.new_references)


def _meet(request: HttpRequest, document: Document, model_admin: Any, form: WordsForm | None) -> HttpResponse:
    """Show how it is now beside what was written, which is still in its fields; a press alone is to be repeated."""
    messages.error(request, _("Nothing was saved: somebody else decided this, or changed the document, meanwhile."))
    if form is None:
        return redirect("admin:knowledge_document_correction", document.pk)
    document.refresh_from_db()
    return _page(request, read_corrected(document), model_admin, form=form, is_late=True)


def _page(
    request: HttpRequest, seen: Corrected, model_admin: Any, *, form: WordsForm | None = None, is_late: bool = False
) -> HttpResponse:
    document, correction = seen.document, seen.correction
    context: dict[str, Any] = {}
    if correction and correction.is_conflict:
        merged = _merge(document, correction)
        touching, more_touching = show_places(merged.places, touching=True)
        others, more_others = show_places(merged.places, touching=False)
        context = {"touching": touching, "others": others, "more": more_touching + more_others}
        links = correction.new_references
        form = form or WordsForm(initial={"title": merged.words.title, "text": merged.words.text})
    else:
        links = document.metadata.get("references")
        form = form or WordsForm(initial={"title": document.title, "text": document.text})
    if is_late:
        context["late_comparison"] = compare(document.text, form.data.get("text", "").replace("\r\n", "\n"))
    context |= {
        **model_admin.admin_site.each_context(request),
        "title": _("Correction and source of “%(title)s”") % {"title": document},
        "opts": model_admin.opts,
        "document": document,
        "correction": correction,
        "state": seen.state,
        "form": form,
        "references": list_references({"references": links}),
        "may_correct": may_restore(model_admin, request, document),
        "media": model_admin.media + form.media,
    }
    return TemplateResponse(request, "admin/knowledge/correction/page.html", context)
