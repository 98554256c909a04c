"""The desk: one case, and what staff do to it. The inbox lists the cases."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from django.contrib import admin, messages
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from analytics.cases.admin.page import Unsaved, case_context, other_cases, other_offices
from analytics.cases.admin.several import REPLY, REPLY_AND_CLOSE, several_view
from analytics.cases.curation import add_phrasing, draft_faq
from analytics.inbox.admin.assigning import assign_item, read_version
from analytics.inbox.items import describe_change
from analytics.inbox.presence import note_reader, others_reading
from analytics.inbox.services import add_comment
from chat.errors import NotFound, Refused
from chat.models import Case
from chat.services import office_cases
from chat.services.office_cases import OutOfDateCase
from core.admin.back import with_back
from core.admin.scoped import ScopedAdmin
from faqs.models import FAQ

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    CaseModelAdmin = admin.ModelAdmin[Case]
else:
    CaseModelAdmin = admin.ModelAdmin

ASK_BACK = "ask_back"
STEPS = (REPLY, ASK_BACK, REPLY_AND_CLOSE)


@admin.register(Case)
class CaseAdmin(ScopedAdmin, CaseModelAdmin):
    list_display = ["__str__", "office", "state", "opened_at"]
    list_select_related = ["office"]
    search_fields = ["question", "messages__text"]
    show_full_result_count = False

    class Media:
        css = {
            "all": [
                "knowledge/admin.css",
                "knowledge/screens.css",
                "analytics/gaps.css",
                "analytics/review_queue.css",
                "analytics/to_do.css",
                "analytics/cases.css",
            ]
        }

    def get_urls(self) -> list[URLPattern]:
        def post(name: str, view: Any, more: str = "") -> URLPattern:
            wrapped: URLPattern = path(
                f"<int:case_id>/{name}/{more}", self.admin_site.admin_view(require_POST(view)), name=f"chat_case_{name}"
            )
            return wrapped

        return [
            post("state", self.state_view),
            post("pass_on", self.pass_on_view),
            post("merge", self.merge_view),
            post("assign", self.assign_view),
            post("comment", self.comment_view),
            post("reading", self.reading_view),
            post("draft", self.draft_view),
            post("phrasing", self.phrasing_view, "<int:faq_id>/"),
            path("reply/", self.admin_site.admin_view(self.several_view), name="chat_case_several"),
            *super().get_urls(),
        ]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Case | None = None) -> bool:
        """Refuse: students take their questions back themselves, and retention deletes them."""
        return False

    def has_module_permission(self, request: HttpRequest) -> bool:
        """Hide the model's own list from the navigation: the inbox lists the cases."""
        return False

    def row_title(self, request: HttpRequest, case: Case) -> str:
        """Return what the search over everything calls a case: what the student asked."""
        return case.question or str(case)

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Lead to the one list."""
        if not self.has_view_or_change_permission(request):
            raise PermissionDenied
        return HttpResponseRedirect(f"{reverse('to-do')}?kind=cases")

    # --- one case ---

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show the case; a POST replies to the student."""
        case = self.get_object(request, unquote(object_id))
        if case is None:
            self.message_user(request, _("There is no such case, or the student took it back."), messages.WARNING)
            return redirect("to-do")
        if not self.has_view_or_change_permission(request, case):
            raise PermissionDenied
        if case.merged_into_id and request.method != "POST":
            self.message_user(request, _("This case was merged into the one below."))
            return redirect("admin:chat_case_change", case.merged_into_id)
        return self._reply(request, case) if request.method == "POST" else self._page(request, case)

    def _page(
        self, request: HttpRequest, case: Case, unsaved: Unsaved | None = None, status: int = 200
    ) -> HttpResponse:
        member, may_change = cast("User", request.user), self.has_change_permission(request, case)
        context = {
            **self.admin_site.each_context(request),
            "title": _("A question to the office"),
            "opts": self.opts,
            "media": self.media,
            "may_change": may_change,
            **case_context(case, member, may_change=may_change, unsaved=unsaved or Unsaved()),
        }
        return TemplateResponse(request, "admin/chat/case/change_form.html", context, status=status)

    def _reply(self, request: HttpRequest, case: Case) -> HttpResponse:
        step, text = request.POST.get("step", ""), request.POST.get("reply", "")
        if not self.has_change_permission(request, case) or step not in STEPS:
            raise PermissionDenied
        try:
            office_cases.reply(
                case=case.pk,
                version=read_version(request.POST),
                text=text,
                by=cast("User", request.user),
                asks_back=step == ASK_BACK,
                closes=step == REPLY_AND_CLOSE,
            )
        except OutOfDateCase as error:
            said = _("Nothing was sent: your reply still stands in its field. Read what is new first.")
            self.message_user(request, f"{describe_change(error.case)} {said}", messages.ERROR)
            return self._page(request, self._again(request, case.pk), Unsaved(reply=text), status=409)
        except Refused as error:
            self.message_user(request, error.detail, messages.ERROR)
            return self._page(request, case, Unsaved(reply=text))
        self.log_change(request, case, [{"changed": {"fields": ["reply"]}}])
        self.message_user(request, _("Your reply was sent."), messages.SUCCESS)
        return redirect("admin:chat_case_change", case.pk)

    def _again(self, request: HttpRequest, case_id: int) -> Case:
        row: Case = get_object_or_404(self.get_queryset(request), pk=case_id)
        return row

    def _case_to_change(self, request: HttpRequest, case_id: int) -> Case:
        """Return a case that the user may change. Raise PermissionDenied, Http404."""
        if not self.has_change_permission(request):
            raise PermissionDenied
        return self._again(request, case_id)

    def _do(
        self, request: HttpRequest, case: Case, field: str, deed: Callable[[], object], said: str = ""
    ) -> HttpResponse:
        """Do something to the case and say so, or say why that was not done; return to its page."""
        try:
            deed()
        except OutOfDateCase as error:
            said = _("Below is how it is now. Nothing was changed.")
            self.message_user(request, f"{describe_change(error.case)} {said}", messages.ERROR)
        except Refused as error:
            self.message_user(request, error.detail, messages.ERROR)
        except NotFound:
            self.message_user(request, _("There is no such case, or the student took it back."), messages.WARNING)
            return redirect("to-do")
        except ValidationError as error:
            self.message_user(request, " ".join(error.messages), messages.ERROR)
        else:
            self.log_change(request, case, [{"changed": {"fields": [field]}}])
            if said:
                self.message_user(request, said, messages.SUCCESS)
        return redirect("admin:chat_case_change", case.pk)

    def several_view(self, request: HttpRequest) -> HttpResponse:
        """Reply to several cases at once."""
        if not self.has_change_permission(request):
            raise PermissionDenied
        shell = {**self.admin_site.each_context(request), "opts": self.opts, "media": self.media}
        return several_view(request, self.get_queryset(request), shell)

    def state_view(self, request: HttpRequest, case_id: int) -> HttpResponse:
        """Close the case without a word, or open it again."""
        case, member = self._case_to_change(request, case_id), cast("User", request.user)
        closes = request.POST.get("state") == Case.State.CLOSED
        deed = office_cases.close if closes else office_cases.reopen
        said = _("The case is closed.") if closes else _("The case is open again.")
        version = read_version(request.POST)
        return self._do(request, case, "state", lambda: deed(case=case.pk, version=version, by=member), said)

    def pass_on_view(self, request: HttpRequest, case_id: int) -> HttpResponse:
        """Give the case to another office."""
        case, member = self._case_to_change(request, case_id), cast("User", request.user)
        chosen = next((each for each in other_offices(case) if str(each.pk) == request.POST.get("office")), None)
        if chosen is None:
            self.message_user(request, _("Choose an office of the list. Nothing was passed on."), messages.ERROR)
            return redirect("admin:chat_case_change", case.pk)
        version = read_version(request.POST)
        response = self._do(
            request,
            case,
            "office",
            lambda: office_cases.pass_on(case=case.pk, version=version, office=chosen, by=member),
        )
        own = self.get_queryset(request).filter(pk=case.pk)
        if not own.exists():
            said = _("The case is with %(office)s now, where another team answers.")
            self.message_user(request, said % {"office": chosen.name}, messages.SUCCESS)
            return redirect("to-do")
        if own.filter(office=chosen).exists():
            self.message_user(
                request, _("The case is with %(office)s now.") % {"office": chosen.name}, messages.SUCCESS
            )
        return response

    def merge_view(self, request: HttpRequest, case_id: int) -> HttpResponse:
        """Merge the case into another one of the same conversation."""
        case, member = self._case_to_change(request, case_id), cast("User", request.user)
        into = next((each for each in other_cases(case, member) if str(each.pk) == request.POST.get("into")), None)
        if into is None:
            raise PermissionDenied
        version = read_version(request.POST)
        return self._do(
            request,
            case,
            "merged_into",
            lambda: office_cases.merge(case=case.pk, version=version, into=into, by=member),
        )

    def assign_view(self, request: HttpRequest, case_id: int) -> HttpResponse:
        case = self._case_to_change(request, case_id)
        if typed := assign_item(request, case):
            return self._page(request, self._again(request, case_id), Unsaved(assignment=typed))
        return redirect("admin:chat_case_change", case_id)

    def comment_view(self, request: HttpRequest, case_id: int) -> HttpResponse:
        case, member = self._case_to_change(request, case_id), cast("User", request.user)
        try:
            add_comment(item=case, by=member, text=request.POST.get("comment", ""))
        except ValidationError as error:
            self.message_user(request, " ".join(error.messages), messages.ERROR)
            return self._page(request, case, Unsaved(comment=request.POST.get("comment", "")))
        self.log_change(request, case, [{"changed": {"fields": ["comment"]}}])
        return redirect("admin:chat_case_change", case_id)

    def reading_view(self, request: HttpRequest, case_id: int) -> JsonResponse:
        """Note that the page is open; return who else has the case open, and its version."""
        case, member = self._case_to_change(request, case_id), cast("User", request.user)
        note_reader(case, member)
        state = {"version": case.version, "readers": others_reading(case, member)}
        return JsonResponse(state, headers={"Cache-Control": "no-store"})

    def draft_view(self, request: HttpRequest, case_id: int) -> HttpResponse:
        """Make a draft FAQ of the question and the reply, and open it."""
        case = self._case_to_change(request, case_id)
        if not request.user.has_perm("faqs.add_faq"):
            raise PermissionDenied
        try:
            faq = draft_faq(case=case, by=request.user)
        except ValidationError as error:
            self.message_user(request, " ".join(error.messages), messages.ERROR)
            return redirect("admin:chat_case_change", case_id)
        self.log_change(request, case, [{"changed": {"fields": ["FAQ"]}}])
        if request.user.has_perm("faqs.change_faq"):
            said = _(
                "A draft FAQ was made of your reply. Names and numbers are masked: check it before you publish it."
            )
        else:
            said = _("A draft FAQ was made. Somebody who may change FAQs can now check and publish it.")
        self.message_user(request, said, messages.SUCCESS)
        return self._to_faq(request, case_id, faq)

    def phrasing_view(self, request: HttpRequest, case_id: int, faq_id: int) -> HttpResponse:
        """Add the question to an FAQ as another way to ask it."""
        case = self._case_to_change(request, case_id)
        if not request.user.has_perm("faqs.change_faq"):
            raise PermissionDenied
        faq = get_object_or_404(FAQ.objects.visible_to(request.user), pk=faq_id)
        return self._do(request, case, "FAQ", lambda: self._add_phrasing(request, case, faq))

    def _add_phrasing(self, request: HttpRequest, case: Case, faq: FAQ) -> None:
        add_phrasing(case=case, faq=faq, by=request.user)
        said = _("The question is a phrasing of the FAQ “%(faq)s” now.") % {"faq": faq.question}
        self.message_user(request, said, messages.SUCCESS)

    def _to_faq(self, request: HttpRequest, case_id: int, faq: FAQ) -> HttpResponse:
        page = reverse("admin:chat_case_change", args=[case_id])
        if request.user.has_perm("faqs.view_faq") or request.user.has_perm("faqs.change_faq"):
            return redirect(with_back(reverse("admin:faqs_faq_change", args=[faq.pk]), page))
        return redirect(page)
