"""The list of gaps, by priority, and what staff do to them."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, cast

from django.contrib import admin, messages
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.loader import render_to_string
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_POST, require_safe

from analytics.gaps.admin.detail import Unsaved, gap_page
from analytics.gaps.admin.filters import AnsweredFilter, StateFilter
from analytics.gaps.services import add_phrasings, draft_faq, look_for_gaps, rename_gap
from analytics.inbox.admin.assigning import assign_item, read_version
from analytics.inbox.items import OutOfDate, describe_change, lock
from analytics.inbox.presence import note_reader, others_reading
from analytics.inbox.services import add_comment, set_topic_state
from analytics.models import Gap, GapRun
from core.admin.back import with_back
from core.admin.scoped import ScopedAdmin, ScopedFilter
from faqs.models import FAQ

State = Gap.State

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    GapModelAdmin = admin.ModelAdmin[Gap]
else:
    GapModelAdmin = admin.ModelAdmin


def ids_in(request: HttpRequest, name: str) -> list[int]:
    """Return the ticked ids in the page's order; skip what is no id."""
    return [int(value) for value in request.POST.getlist(name) if value.isdecimal() and len(value) < 19]


@admin.register(Gap)
class GapAdmin(ScopedAdmin, GapModelAdmin):
    list_display = [
        "name",
        "weighs",
        "visitors",
        "trend",
        "state_now",
        "answered",
        "asked_last",
    ]
    list_filter = [StateFilter, AnsweredFilter, ("assistant", ScopedFilter), "language"]
    list_select_related = ["assistant", "answered_by_faq", "answered_by_document", "faq"]
    list_per_page = 50
    show_full_result_count = False
    search_fields = ["name"]
    actions = ["take_on", "solve", "dismiss", "open_again"]
    change_list_template = "admin/analytics/gap/change_list.html"

    class Media:
        css = {
            "all": [
                "knowledge/admin.css",
                "knowledge/screens.css",
                "analytics/gaps.css",
                "analytics/review_queue.css",
                "analytics/to_do.css",
            ]
        }

    def row_title(self, request: HttpRequest, gap: Gap) -> str:
        return gap.title

    def get_urls(self) -> list[URLPattern]:
        def post(route: str, view: Any, name: str) -> URLPattern:
            wrapped: URLPattern = path(
                route, self.admin_site.admin_view(require_POST(view)), name=f"analytics_gap_{name}"
            )
            return wrapped

        progress = self.admin_site.admin_view(require_safe(self.progress_view))
        return [
            path("progress/", progress, name="analytics_gap_progress"),
            post("look/", self.look_view, "look"),
            post("<int:gap_id>/name/", self.rename_view, "rename"),
            post("<int:gap_id>/state/", self.state_view, "state"),
            post("<int:gap_id>/assign/", self.assign_view, "assign"),
            post("<int:gap_id>/comment/", self.comment_view, "comment"),
            post("<int:gap_id>/reading/", self.reading_view, "reading"),
            post("<int:gap_id>/draft/", self.draft_view, "draft"),
            post("<int:gap_id>/phrasings/<int:faq_id>/", self.phrasings_view, "phrasings"),
            *super().get_urls(),
        ]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_module_permission(self, request: HttpRequest) -> bool:
        """Hide this list from the navigation: the inbox lists the topics, and links here for more filters."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Gap | None = None) -> bool:
        """Refuse to delete a gap: it would be found again. Staff dismiss it instead."""
        return False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Gap]:
        return super().get_queryset(request).filter(merged_into=None).defer("centroid", "answered_by_document__text")

    # --- the list ---

    @admin.display(description=gettext_lazy("priority"), ordering="weight")
    def weighs(self, gap: Gap) -> str:
        return render_to_string("admin/analytics/gap/weight.html", {"gap": gap})

    @admin.display(description=gettext_lazy("trend"))
    def trend(self, gap: Gap) -> str:
        return render_to_string("admin/analytics/gap/trend.html", {"gap": gap})

    @admin.display(description=gettext_lazy("last asked"), ordering="last_asked")
    def asked_last(self, gap: Gap) -> str:
        day = date_format(timezone.localtime(gap.last_asked), "SHORT_DATE_FORMAT")
        whom = f"{gap.assistant or '–'}, {gap.get_language_display()}"
        return format_html('{} <span class="gap-quiet">{}</span>', day, whom)

    @admin.display(description=gettext_lazy("state"), ordering="state")
    def state_now(self, gap: Gap) -> str:
        return render_to_string("admin/analytics/gap/state.html", {"gap": gap})

    @admin.display(description=gettext_lazy("answered since"), ordering="answered_since")
    def answered(self, gap: Gap) -> str:
        return render_to_string("admin/analytics/gap/answered.html", {"gap": gap})

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        run = GapRun.objects.first()
        context = {"run": run, "title": _("Unanswered topics")}
        return super().changelist_view(request, context | (extra_context or {}))

    def progress_view(self, request: HttpRequest) -> JsonResponse:
        """Return what the list polls every two seconds while a run is active."""
        if not self.has_view_or_change_permission(request):
            raise PermissionDenied
        run = GapRun.objects.first()
        state = {
            "state": run.get_state_display() if run else "",
            "message": describe_progress(run) if run else "",
            "counts": {},
            "is_active": bool(run and run.is_active),
        }
        return JsonResponse(state, headers={"Cache-Control": "no-store"})

    @admin.action(description=gettext_lazy("Take the selected topics on"), permissions=["change"])
    def take_on(self, request: HttpRequest, queryset: QuerySet[Gap]) -> None:
        self._set_state(request, queryset, State.IN_WORK)

    @admin.action(description=gettext_lazy("Mark the selected topics as solved"), permissions=["change"])
    def solve(self, request: HttpRequest, queryset: QuerySet[Gap]) -> None:
        self._set_state(request, queryset, State.SOLVED)

    @admin.action(description=gettext_lazy("Dismiss the selected topics"), permissions=["change"])
    def dismiss(self, request: HttpRequest, queryset: QuerySet[Gap]) -> None:
        self._set_state(request, queryset, State.DISMISSED)

    @admin.action(description=gettext_lazy("Open the selected topics again"), permissions=["change"])
    def open_again(self, request: HttpRequest, queryset: QuerySet[Gap]) -> None:
        self._set_state(request, queryset, State.OPEN)

    def _set_state(self, request: HttpRequest, gaps: Iterable[Gap], state: str) -> None:
        gaps = list(gaps)
        changing = [gap for gap in gaps if gap.state != state]
        member = cast("User", request.user)
        count = set_topic_state(gaps=gaps, state=state, by=member)
        for gap in changing:
            self.log_change(request, gap, [{"changed": {"fields": ["state"]}}])
        message = ngettext("%(count)d topic is now “%(state)s”.", "%(count)d topics are now “%(state)s”.", count)
        self.message_user(request, message % {"count": count, "state": State(state).label}, messages.SUCCESS)

    # --- one gap ---

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show what was asked, why it failed and what may fill the gap; a merged gap redirects to its successor."""
        key = unquote(object_id)
        gap = self.get_object(request, key)
        if gap is None:
            is_id = key.isdecimal() and len(key) < 19
            gone = Gap.objects.visible_to(request.user).filter(pk=int(key)).first() if is_id else None
            if gone and gone.merged_into_id and self.has_view_or_change_permission(request):
                self.message_user(request, _("This topic was merged into the one below."))
                return redirect("admin:analytics_gap_change", gone.merged_into_id)
            raise Http404
        if not self.has_view_or_change_permission(request, gap):
            raise PermissionDenied
        return gap_page(self, request, gap)

    def _gap_to_change(self, request: HttpRequest, gap_id: int) -> Gap:
        """Return a gap that the user may change. Raise PermissionDenied, Http404."""
        if not self.has_change_permission(request):
            raise PermissionDenied
        return get_object_or_404(self.get_queryset(request), pk=gap_id)

    def rename_view(self, request: HttpRequest, gap_id: int) -> HttpResponse:
        gap, name = self._gap_to_change(request, gap_id), request.POST.get("name", "")
        version, member = read_version(request.POST), cast("User", request.user)
        try:
            if rename_gap(gap=gap, version=version, name=name, by=member).version != gap.version:
                self.log_change(request, gap, [{"changed": {"fields": ["name"]}}])
                self.message_user(request, _("The topic has a new name."), messages.SUCCESS)
        except OutOfDate as error:
            said = _("Its name is now “%(now)s”. Yours was not saved and still stands in its field: %(name)s")
            named = {"now": error.item.name, "name": name[:200]}
            self.message_user(request, f"{describe_change(error.item)} {said % named}", messages.ERROR)
            return gap_page(self, request, self._gap_to_change(request, gap_id), Unsaved(name=name[:200]))
        except ValidationError as error:
            self.message_user(request, " ".join(error.messages), messages.ERROR)
            return gap_page(self, request, gap, Unsaved(name=name[:200]))
        return redirect("admin:analytics_gap_change", gap_id)

    @transaction.atomic
    def state_view(self, request: HttpRequest, gap_id: int) -> HttpResponse:
        gap, state = self._gap_to_change(request, gap_id), request.POST.get("state", "")
        if state not in State.values:
            raise Http404
        try:
            self._set_state(request, [lock(gap, read_version(request.POST))], state)
        except OutOfDate as error:
            said = _("Below is how it is now. Its state was not changed.")
            self.message_user(request, f"{describe_change(error.item)} {said}", messages.ERROR)
        return redirect("admin:analytics_gap_change", gap_id)

    def assign_view(self, request: HttpRequest, gap_id: int) -> HttpResponse:
        typed = assign_item(request, self._gap_to_change(request, gap_id))
        if typed:
            return gap_page(self, request, self._gap_to_change(request, gap_id), Unsaved(assignment=typed))
        return redirect("admin:analytics_gap_change", gap_id)

    def comment_view(self, request: HttpRequest, gap_id: int) -> HttpResponse:
        gap, member = self._gap_to_change(request, gap_id), cast("User", request.user)
        try:
            add_comment(item=gap, by=member, text=request.POST.get("comment", ""))
        except ValidationError as error:
            self.message_user(request, " ".join(error.messages), messages.ERROR)
            return gap_page(self, request, gap, Unsaved(comment=request.POST.get("comment", "")))
        self.log_change(request, gap, [{"changed": {"fields": ["comment"]}}])
        return redirect("admin:analytics_gap_change", gap_id)

    def reading_view(self, request: HttpRequest, gap_id: int) -> JsonResponse:
        """Note that the page is open; return who else has the topic open, and its version."""
        gap, member = self._gap_to_change(request, gap_id), cast("User", request.user)
        note_reader(gap, member)
        state = {"version": gap.version, "readers": others_reading(gap, member)}
        return JsonResponse(state, headers={"Cache-Control": "no-store"})

    def look_view(self, request: HttpRequest) -> HttpResponse:
        if not self.has_change_permission(request):
            raise PermissionDenied
        run = look_for_gaps(by=request.user if request.user.is_authenticated else None)
        if run:
            self.log_addition(request, cast("Any", run), [{"added": {}}])
        said = _("The topics are being updated.") if run else _("An update is running already.")
        self.message_user(request, said)
        return redirect("to-do")

    def draft_view(self, request: HttpRequest, gap_id: int) -> HttpResponse:
        gap = self._gap_to_change(request, gap_id)
        if not request.user.has_perm("faqs.add_faq"):
            raise PermissionDenied
        try:
            faq = draft_faq(
                by=request.user,
                gap=gap,
                question=request.POST.get("question", ""),
                # Where staff wrote another question, a student's words stay as a phrasing.
                phrasings=[*ids_in(request, "central"), *ids_in(request, "phrasings")],
                documents=ids_in(request, "documents"),
            )
        except ValidationError as error:
            self.message_user(request, " ".join(error.messages), messages.ERROR)
            return redirect("admin:analytics_gap_change", gap_id)
        self.log_change(request, gap, [{"changed": {"fields": ["FAQ"]}}])
        if request.user.has_perm("faqs.change_faq"):
            said = _(
                "A draft FAQ was made. Check its question, write the answer or link the pages that answer it, then "
                "press “Save and publish”."
            )
        else:
            said = _("A draft FAQ was made. Somebody who may change FAQs can now check and publish it.")
        self.message_user(request, said, messages.SUCCESS)
        return self._to_faq(request, gap_id, faq)

    def phrasings_view(self, request: HttpRequest, gap_id: int, faq_id: int) -> HttpResponse:
        gap = self._gap_to_change(request, gap_id)
        if not request.user.has_perm("faqs.change_faq"):
            raise PermissionDenied
        faq = get_object_or_404(FAQ.objects.visible_to(request.user), pk=faq_id)
        try:
            # The question that a draft would be named after is as good a phrasing as the others.
            chosen = [*ids_in(request, "central"), *ids_in(request, "phrasings")]
            count = add_phrasings(by=request.user, gap=gap, faq=faq, phrasings=chosen)
        except ValidationError as error:
            self.message_user(request, " ".join(error.messages), messages.ERROR)
            return redirect("admin:analytics_gap_change", gap_id)
        self.log_change(request, gap, [{"changed": {"fields": ["FAQ"]}}])
        message = ngettext("%d phrasing was added to this FAQ.", "%d phrasings were added to this FAQ.", count)
        self.message_user(request, message % count, messages.SUCCESS)
        return self._to_faq(request, gap_id, faq)

    def _to_faq(self, request: HttpRequest, gap_id: int, faq: FAQ) -> HttpResponse:
        if request.user.has_perm("faqs.view_faq") or request.user.has_perm("faqs.change_faq"):
            topic = reverse("admin:analytics_gap_change", args=[gap_id])
            return redirect(with_back(reverse("admin:faqs_faq_change", args=[faq.pk]), topic))
        return redirect("admin:analytics_gap_change", gap_id)


def describe_progress(run: GapRun) -> str:
    """Say in one sentence how far the last run is."""
    if run.state == GapRun.State.QUEUED:
        return _("Waits for its turn.")
    if run.state == GapRun.State.RUNNING:
        if not run.total:
            return _("Reading the questions.")
        return _("Step %(done)s of %(total)s.") % {"done": run.done, "total": run.total}
    if run.state == GapRun.State.FAILED:
        return _(run.message) if run.message else ""
    return ngettext("%d new topic.", "%d new topics.", run.found) % run.found
