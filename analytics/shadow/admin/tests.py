"""The screens of shadow tests: start, progress, results, then publish or discard."""

from datetime import datetime
from typing import TYPE_CHECKING, Any, cast

from django.contrib import admin, messages
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.loader import render_to_string
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST, require_safe

from analytics.evaluation.services import keep_as_regression
from analytics.models import ShadowTest
from analytics.shadow.admin.detail import build_page, describe_progress
from analytics.shadow.admin.forms import (
    assistants_for,
    check_seen,
    document_draft,
    faq_draft,
    list_targets,
    may_publish,
    may_test,
    profile_draft,
    written_to,
)
from analytics.shadow.drafts import Draft, PromptDraft
from analytics.shadow.services import cancel_test, discard_test, publish_test, repeat_test, start_test
from chat.models import Assistant, Conversation, Message
from core.admin.scoped import ScopedAdmin

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    ShadowModelAdmin = admin.ModelAdmin[ShadowTest]
else:
    ShadowModelAdmin = admin.ModelAdmin

Kind = ShadowTest.Kind


def staff_user(request: HttpRequest) -> "User":
    return cast("User", request.user)


def chosen_id(text: str | None) -> int:
    """0 where it is none."""
    return int(text) if text and text.isdecimal() and len(text) < 19 else 0


@admin.register(ShadowTest)
class ShadowTestAdmin(ScopedAdmin, ShadowModelAdmin):
    list_display = ["title", "kind", "assistant", "state_now", "outcome", "decision_made", "requested_by", "created_at"]
    list_filter = ["kind", "state", "decision"]
    list_select_related = ["assistant", "requested_by"]
    list_per_page = 50
    show_full_result_count = False
    search_fields = ["title"]
    actions = None
    change_list_template = "admin/analytics/shadow/change_list.html"
    nothing_yet = _("No change was tested yet.")

    class Media:
        css = {"all": ["knowledge/admin.css", "knowledge/screens.css", "analytics/admin.css", "analytics/shadow.css"]}

    def get_urls(self) -> list[URLPattern]:
        def view(route: str, function: Any, name: str) -> URLPattern:
            wrapped: URLPattern = path(route, self.admin_site.admin_view(function), name=f"analytics_shadowtest_{name}")
            return wrapped

        return [
            view("start/<str:kind>/<str:key>/", require_POST(self.start_view), "start"),
            view("keep/<int:message_id>/", require_POST(self.keep_view), "keep"),
            view("<int:test_id>/progress/", require_safe(self.progress_view), "progress"),
            view("<int:test_id>/stop/", require_POST(self.stop_view), "stop"),
            view("<int:test_id>/again/", require_POST(self.again_view), "again"),
            view("<int:test_id>/publish/", require_POST(self.publish_view), "publish"),
            view("<int:test_id>/discard/", require_POST(self.discard_view), "discard"),
            *super().get_urls(),
        ]

    # --- who may ---

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Refuse to add a test here: it begins on the page of what is to be changed."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: ShadowTest | None = None) -> bool:
        return False

    def has_view_permission(self, request: HttpRequest, obj: ShadowTest | None = None) -> bool:
        """Allow those who may test to see the results."""
        return super().has_view_permission(request) or request.user.has_perm("analytics.add_shadowtest")

    def has_delete_permission(self, request: HttpRequest, obj: ShadowTest | None = None) -> bool:
        return super().has_delete_permission(request) and not (obj and obj.is_active)

    # --- what is shown ---

    def get_queryset(self, request: HttpRequest) -> QuerySet[ShadowTest]:
        tests: QuerySet[ShadowTest] = super().get_queryset(request)
        return tests.defer("draft").select_related("assistant", "requested_by")

    @admin.display(description=_("state"), ordering="state")
    def state_now(self, test: ShadowTest) -> str:
        return (
            f"{test.get_state_display()}, {test.done} / {test.total}" if test.is_active else (test.get_state_display())
        )

    @admin.display(description=_("result"))
    def outcome(self, test: ShadowTest) -> str:
        return render_to_string("admin/analytics/shadow/outcome.html", {"test": test})

    @admin.display(description=_("decision"), ordering="decision")
    def decision_made(self, test: ShadowTest) -> str:
        return test.get_decision_display()

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Nothing can be changed: what the change does to each question, and what to do about it."""
        test = self.get_object(request, unquote(object_id))
        if test is None:
            raise Http404
        if not self.has_view_permission(request, test):
            raise PermissionDenied
        context = {
            **self._context(request, str(test)),
            **build_page(test, request.GET, staff_user(request)),
            "may_delete": self.has_delete_permission(request, test),
        }
        return TemplateResponse(request, "admin/analytics/shadow/test.html", context)

    def progress_view(self, request: HttpRequest, test_id: int) -> JsonResponse:
        """Return what the page polls every two seconds while the test is active."""
        test = get_object_or_404(self.get_queryset(request), pk=test_id)
        if not self.has_view_permission(request, test):
            raise PermissionDenied
        counts = {name: getattr(test, name) for name in ("done", "total", "changed", "better", "worse")}
        state = {
            "state": test.get_state_display(),
            "message": describe_progress(test),
            "counts": counts,
            "is_active": test.is_active,
        }
        return JsonResponse(state, headers={"Cache-Control": "no-store"})

    def _context(self, request: HttpRequest, title: str) -> dict[str, Any]:
        return {
            **self.admin_site.each_context(request),
            "title": title,
            "opts": self.opts,
            "media": self.media,
        }

    # --- what is done ---

    def start_view(self, request: HttpRequest, kind: str, key: str) -> HttpResponse:
        """Start a test of what the form of an FAQ, document or profile holds, or of a prompt's version."""
        user = staff_user(request)
        if kind not in Kind.values or not may_test(kind, user):
            raise PermissionDenied
        target_id = chosen_id(key)
        is_built_in = kind == Kind.PROMPT and key == "built-in"
        target = None if is_built_in else get_object_or_404(list_targets(kind, user), pk=target_id)
        title = gettext("built-in texts") if is_built_in else str(target)
        assistants = assistants_for(kind, target, user)
        try:
            if not assistants:
                raise ValidationError(gettext("There is no assistant on whose questions it could be tested."))
            wanted = chosen_id(request.POST.get("assistant"))
            assistant = next((each for each in assistants if each.pk == wanted), assistants[0])
            draft = self._draft(request, kind, target)
            began = timezone.now()
            with transaction.atomic():
                check_seen(request.POST, target)
                test = start_test(draft=draft, target_id=target_id, title=title, assistant=assistant, by=user)
        except ValidationError as error:
            context = self._context(request, gettext("This cannot be tested yet")) | {"problems": error.messages}
            return TemplateResponse(request, "admin/analytics/shadow/problems.html", context, status=422)
        self._log_begun(request, test, began)
        return redirect("admin:analytics_shadowtest_change", test.pk)

    def _draft(self, request: HttpRequest, kind: str, target: Any) -> Draft:
        """Read the draft from the form that was sent. Raise ValidationError."""
        match kind:
            case Kind.FAQ:
                return faq_draft(request.POST, target, user=staff_user(request))
            case Kind.DOCUMENT:
                return document_draft(request.POST, target, user=staff_user(request))
            case Kind.PROFILE:
                return profile_draft(request.POST, target)
            case _:
                return PromptDraft(target.pk if target else None)

    def _log_begun(self, request: HttpRequest, test: ShadowTest, began: datetime) -> None:
        """Log that a test began, unless it ran already, as after a double click."""
        if test.created_at >= began:
            self.log_addition(request, test, [{"added": {}}])

    def again_view(self, request: HttpRequest, test_id: int) -> HttpResponse:
        test, user = get_object_or_404(self.get_queryset(request), pk=test_id), staff_user(request)
        if not may_test(test.kind, user):
            raise PermissionDenied
        assistant = get_object_or_404(Assistant.objects.visible_to(user), pk=chosen_id(request.POST.get("assistant")))
        began = timezone.now()
        try:
            again = repeat_test(test=test, assistant=assistant, asks_model="asks_model" in request.POST, by=user)
        except ValidationError as error:
            return self._back(request, test, error)
        self._log_begun(request, again, began)
        return redirect("admin:analytics_shadowtest_change", again.pk)

    def stop_view(self, request: HttpRequest, test_id: int) -> HttpResponse:
        test = get_object_or_404(self.get_queryset(request), pk=test_id)
        if not may_test(test.kind, staff_user(request)):
            raise PermissionDenied
        cancel_test(test=test)
        self.log_change(request, test, [{"changed": {"fields": ["state"]}}])
        self.message_user(request, gettext("The test was stopped. What it found until then is kept."))
        return redirect("admin:analytics_shadowtest_change", test.pk)

    def publish_view(self, request: HttpRequest, test_id: int) -> HttpResponse:
        test, user = get_object_or_404(self.get_queryset(request), pk=test_id), staff_user(request)
        if not may_publish(test, user):
            raise PermissionDenied
        try:
            publish_test(test=test, by=user)
        except ValidationError as error:
            return self._back(request, test, error)
        changed = [{"changed": {"fields": [gettext("published after a shadow test")]}}]
        rows = [row for row in (written_to(test, user),) if row]
        LogEntry.objects.log_actions(user.pk, cast("Any", rows), CHANGE, changed)
        self.log_change(request, test, [{"changed": {"fields": ["decision"]}}])
        self.message_user(request, gettext("“%(title)s” is live.") % {"title": test.title}, messages.SUCCESS)
        return redirect("admin:analytics_shadowtest_change", test.pk)

    def discard_view(self, request: HttpRequest, test_id: int) -> HttpResponse:
        test = get_object_or_404(self.get_queryset(request), pk=test_id)
        if not may_test(test.kind, staff_user(request)):
            raise PermissionDenied
        try:
            discard_test(test=test, by=staff_user(request))
        except ValidationError as error:
            return self._back(request, test, error)
        self.log_change(request, test, [{"changed": {"fields": ["decision"]}}])
        self.message_user(request, gettext("Nothing went live: everything is as it was."), messages.SUCCESS)
        return redirect("admin:analytics_shadowtest_change", test.pk)

    def keep_view(self, request: HttpRequest, message_id: int) -> HttpResponse:
        """Keep the question of an answer as a regression question of its assistant."""
        if not request.user.has_perm("analytics.add_evaluationquestion"):
            raise PermissionDenied
        own = Conversation.objects.visible_to(staff_user(request))
        message = get_object_or_404(Message.objects.filter(conversation__in=own), pk=message_id)
        came_from = request.POST.get("next", "")
        try:
            question = keep_as_regression(message=message, by=staff_user(request))
        except ValidationError as error:
            self.message_user(request, " ".join(error.messages), messages.ERROR)
        else:
            self.message_user(
                request,
                gettext(
                    "Kept: every change is tried on this question before it goes live. Check what should answer it."
                ),
                messages.SUCCESS,
            )
            came_from = came_from or reverse("admin:analytics_evaluationquestion_change", args=[question.pk])
        if not url_has_allowed_host_and_scheme(came_from, allowed_hosts={request.get_host()}):
            came_from = reverse("admin:index")
        return HttpResponseRedirect(came_from)

    def _back(self, request: HttpRequest, test: ShadowTest, error: ValidationError) -> HttpResponse:
        self.message_user(request, " ".join(error.messages), messages.ERROR)
        return redirect("admin:analytics_shadowtest_change", test.pk)
