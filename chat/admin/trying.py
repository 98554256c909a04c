"""The page on which staff try a question; its address holds all that was chosen, so that it can be passed on."""

from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from chat.admin.trial_words import shown
from chat.admin.trying_form import Staff, TryForm, asked_before
from chat.playground.trying import try_question
from chat.profiles import UnknownProfile

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
        failure = "" if asked else _("There is no such question among those that you look after.")
    data = request.GET if "question" in request.GET else None
    form = TryForm(data, initial=initial, user=user, may_see_documents=may_see_documents)
    context: dict[str, Any] = {
        **admin.site.each_context(request),
        "title": _("Try a question"),
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
    """The sides that the page shows, or the failure that there is none."""
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
