"""Sentences of the language model that were held back, and what staff find of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.db.models import Prefetch, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.functional import Promise
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from chat.models import HeldBackSentence, Message
from chat.models.conversations import Staff, may_read_help
from chat.services.held_back import OutOfDate, judge_held_back
from core.admin.scoped import ScopedAdmin, ScopedFilter

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    HeldBackModelAdmin = admin.ModelAdmin[HeldBackSentence]
else:
    HeldBackModelAdmin = admin.ModelAdmin

MAY_JUDGE = "chat.change_heldbacksentence"
Reason = HeldBackSentence.Reason
#: Why a sentence was held back, for staff; the part of the sentence that is meant follows where it is known.
SAID: Mapping[str, str | Promise] = {
    Reason.FIGURE: _("The page does not give this figure"),
    Reason.DATE: _("The page does not give this date"),
    Reason.POLARITY: _("The page may say the opposite"),
    Reason.BOUND: _("The page gives another limit (at least, at most, before, after)"),
    Reason.MODALITY: _("The page says otherwise what one must, may or need not do"),
    Reason.CONDITION: _("A condition is missing, or the page has none like it"),
    Reason.SUBJECT: _("The page says this about something else"),
    Reason.QUANTIFIER: _("The page says this of more or of fewer (all, some, only)"),
    Reason.NAME: _("The page does not name this"),
    Reason.ADDRESS: _("The page does not have this link or contact"),
    Reason.INVENTED: _("The page says nothing of this"),
    Reason.DECISION: _("It may tell students a decision that only the university makes"),
    Reason.QUESTION: _("It asks and states nothing"),
    Reason.TOO_LONG: _("It is too long to be compared with the page"),
    Reason.UNALIGNED: _("No sentence of the pages is about this"),
    Reason.UNCLEAR: _("The wording is too far from the page to be sure"),
    Reason.LINK: _("No page has this link"),
    Reason.CONTACT: _("No page has this e-mail address or telephone number"),
    Reason.MARKUP: _("It holds markup or code, which is never shown"),
    Reason.SYSTEM_PROMPT: _("It tells the instructions that the model was given"),
}


@dataclass(frozen=True, slots=True)
class HeldBackShown:
    """A sentence as pages show it: each reason in words, with the part of the sentence that raised it."""

    row: HeldBackSentence
    reasons: Sequence[tuple[str | Promise, str]]


def describe_held_back(row: HeldBackSentence) -> HeldBackShown:
    """Put the reasons in words. A part that neither the sentence nor the page has is a code, and is not shown."""
    words = f"{row.text}\n{row.page_words}".casefold()
    reasons = [
        (SAID.get(kind, kind), part if part.casefold() in words and part != row.text else "")
        for kind, part in zip(row.reasons, row.parts, strict=True)
    ]
    return HeldBackShown(row, reasons)


def prefetch_held_back() -> "Prefetch[Any]":
    """Return what `held_back_of` reads, to be fetched before."""
    return Prefetch("held_back", HeldBackSentence.objects.select_related("judged_by").order_by("n"))


def held_back_of(message: Message, user: Staff) -> list[HeldBackShown]:
    """Return what was held back from an answer, in order, as far as this member of staff may read it."""
    if not (message.sentences_quoted or message.sentences_left_out) or (message.is_help and not may_read_help(user)):
        return []
    return [describe_held_back(row) for row in message.held_back.all()]


class ReasonFilter(admin.SimpleListFilter):
    title = _("reason")
    parameter_name = "reason"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [*Reason.choices]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(reasons__contains=[self.value()]) if self.value() else queryset


class JudgementFilter(admin.SimpleListFilter):
    title = _("judgement")
    parameter_name = "judgement"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("none", _("not judged yet")), ("any", _("judged")), *HeldBackSentence.Verdict.choices]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        match self.value():
            case "none":
                return queryset.filter(verdict="")
            case "any":
                return queryset.exclude(verdict="")
            case str(verdict):
                return queryset.filter(verdict=verdict)
        return queryset


@admin.register(HeldBackSentence)
class HeldBackAdmin(ScopedAdmin, HeldBackModelAdmin):
    list_display = ["text"]
    list_filter = [JudgementFilter, ReasonFilter, ("assistant", ScopedFilter), "language", "created_at"]
    search_fields = ["text"]
    search_help_text = _("Searches the sentences.")
    list_per_page = 25
    show_full_result_count = False
    sortable_by = ()
    actions = None
    change_list_template = "admin/chat/heldbacksentence/change_list.html"

    class Media:
        css = {"all": ["knowledge/screens.css", "chat/held_back.css"]}
        js = ["chat/held_back.js"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[HeldBackSentence]:
        rows: Any = super().get_queryset(request)
        found: QuerySet[HeldBackSentence] = rows.readable_by(request.user)
        return found

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(require_POST(self.judge_view))
        return [path("<int:sentence_id>/judge/", view, name="chat_heldbacksentence_judge"), *super().get_urls()]

    def row_title(self, request: HttpRequest, row: HeldBackSentence) -> str:
        """Return what the search over everything calls a sentence; its `title` is that of the page."""
        return row.text

    # --- the list ---

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Show each sentence as a whole, with its reasons and the page's words, instead of a table's row."""
        response = super().changelist_view(request, extra_context)
        if isinstance(response, TemplateResponse) and response.context_data and "cl" in response.context_data:
            rows = response.context_data["cl"].result_list
            rows = rows.select_related("assistant", "judged_by", "message__question")
            rows = rows.defer("message__retrieved", "message__question__retrieved", "message__text")
            response.context_data["shown"] = [describe_held_back(row) for row in rows]
        return response

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Lead to the sentence in its conversation, where all that there is to read stands beside it."""
        row = self.get_object(request, object_id)
        if row is None:
            return super().change_view(request, object_id, form_url, extra_context)
        if request.method == "POST" or not self.has_view_or_change_permission(request, row):
            raise PermissionDenied
        if not request.user.has_perm("chat.view_conversation"):
            return redirect("admin:chat_heldbacksentence_changelist")
        message = Message.objects.only("conversation").get(pk=row.message_id)
        return redirect(f"{reverse('admin:chat_conversation_change', args=[message.conversation_id])}#held-{row.pk}")

    # --- what may be done ---

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: HeldBackSentence | None = None) -> bool:
        """Refuse: a sentence is deleted with its answer."""
        return False

    def judge_view(self, request: HttpRequest, sentence_id: int) -> HttpResponse:
        """Save a judgement; reply with the sentence's new state to a script, else lead back to the page."""
        if not self.has_change_permission(request):
            raise PermissionDenied
        row, note, status = get_object_or_404(self.get_queryset(request), pk=sentence_id), "", 200
        version, verdict = request.GET.get("version", ""), request.POST.get("verdict", "")
        member = cast("User", request.user)
        try:
            with transaction.atomic():
                known = int(version) if version.isdecimal() and len(version) < 10 else -1
                row = judge_held_back(sentence_id=row.pk, version=known, by=member, verdict=verdict)
                self.log_change(request, row, [{"changed": {"fields": ["verdict"]}}])
        except OutOfDate as error:
            row, status = error.sentence, 409
            note = gettext("Somebody was quicker: this is how the sentence stands now. Nothing of yours was saved.")
        except ValidationError as error:
            note, status = " ".join(error.messages), 400
        if request.headers.get("X-Requested-With") == "fetch":
            context = {"held": row, "may_judge": True, "note": note}
            return render(request, "admin/chat/heldbacksentence/judgement.html", context, status=status)
        if note:
            self.message_user(request, note, messages.WARNING)
        return redirect(self._address_to_return_to(request, row))

    def _address_to_return_to(self, request: HttpRequest, row: HeldBackSentence) -> str:
        back = request.POST.get("back", "")
        is_own = url_has_allowed_host_and_scheme(back, {request.get_host()}, require_https=request.is_secure())
        return f"{back if is_own else reverse('admin:chat_heldbacksentence_changelist')}#held-{row.pk}"
