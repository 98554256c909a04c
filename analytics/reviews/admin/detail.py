"""The views of one answer under review: its page, its steps, undo, and what its other forms save."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from django.contrib import admin, messages
from django.contrib.admin.utils import unquote
from django.core import signing
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.http import urlencode as django_urlencode
from django.utils.translation import gettext, ngettext
from django.views.decorators.http import require_POST, require_safe

from analytics.evaluation.services import find_regression, keep_as_regression
from analytics.inbox.admin.assigning import TypedAssignment, assign_item
from analytics.inbox.items import OutOfDate, describe_change
from analytics.inbox.notices import mark_read
from analytics.inbox.presence import forget_reader, note_reader, others_reading
from analytics.models import Review
from analytics.reviews.admin.meant import list_found, read_meant
from analytics.reviews.admin.order import FILTERS, neighbours, next_open, review_queue
from analytics.reviews.admin.page import may_see_faqs, page_context
from analytics.reviews.admin.steps import (
    ASSIGNING,
    DONE,
    STEPS,
    Typed,
    apply_action,
    read_undo_token,
    typed_in,
    undo_token,
)
from analytics.reviews.confirmed import confirm_meaning, list_meanable, may_confirm
from analytics.reviews.examples import describe_lesson
from analytics.reviews.services import decided, restore_review
from core.admin.scoped import ScopedAdmin

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    ReviewModelAdmin = admin.ModelAdmin[Review]
else:
    ReviewModelAdmin = admin.ModelAdmin


#: Where the session holds the last step until a page has offered to undo it.
UNDO = "review_undo"
MAY_KEEP = "analytics.add_evaluationquestion"


def signed_in_member(request: HttpRequest) -> "User":
    """Return who is signed in: `admin_view` refuses everybody else."""
    return cast("User", request.user)


class ReviewScreens(ScopedAdmin, ReviewModelAdmin):
    """To be mixed into the admin of reviews."""

    def get_urls(self) -> list[URLPattern]:
        def post(route: str, view: Any, name: str) -> URLPattern:
            wrapped: URLPattern = path(
                route, self.admin_site.admin_view(require_POST(view)), name=f"analytics_review_{name}"
            )
            return wrapped

        return [
            post("undo/", self.undo_view, "undo"),
            post("<int:review_id>/reading/", self.reading_view, "reading"),
            post("<int:review_id>/keep/", self.keep_view, "keep"),
            post("<int:review_id>/meant/", self.meant_view, "meant"),
            post("<int:review_id>/assign/", self.assign_view, "assign"),
            path(
                "<int:review_id>/faqs/",
                self.admin_site.admin_view(require_safe(self.faqs_view)),
                name="analytics_review_faqs",
            ),
            *super().get_urls(),
        ]

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show the review; a POST applies an action, and opens the next review if that finished this one."""
        review = self.get_object(request, unquote(object_id))
        if review is None:
            return self._gone(request)
        if not self.has_view_or_change_permission(request, review):
            raise PermissionDenied
        return self._step(request, review) if request.method == "POST" else self._page(request, review)

    def _page(
        self,
        request: HttpRequest,
        review: Review,
        *,
        typed: Typed | None = None,
        assignment: TypedAssignment | None = None,
        is_conflict: bool = False,
    ) -> HttpResponse:
        member, may_change = signed_in_member(request), self.has_change_permission(request, review)
        if may_change:
            note_reader(review, member)
        mark_read(review, member)
        queue = review_queue(self, request)
        before, after = neighbours(queue, review, request)
        shown = page_context(review, member, typed=typed, assignment=assignment, is_conflict=is_conflict)
        context = {
            **self.admin_site.each_context(request),
            **shown,
            "title": gettext("Review an answer"),
            "opts": self.opts,
            "media": self.media + shown["another"].media if shown["another"] else self.media,
            "may_change": may_change,
            "here": self._address(request, review.pk),
            "previous": self._address(request, before),
            "next": self._address(request, after),
            "list": self._address(request, None, is_list=True),
            "left": queue.filter(state=Review.State.OPEN).count(),
            "undo": request.session.pop(UNDO, None),
            "may_keep": member.has_perm(MAY_KEEP),
            "kept": find_regression(review.message.question) if review.message.question else None,
        }
        status = 409 if is_conflict else 200
        return TemplateResponse(request, "admin/analytics/review/change_form.html", context, status=status)

    def _step(self, request: HttpRequest, review: Review) -> HttpResponse:
        step, typed, member = request.POST.get("step", ""), typed_in(request.POST), signed_in_member(request)
        if not self.has_change_permission(request, review):
            raise PermissionDenied
        if step not in STEPS:
            raise Http404
        before = decided(review)
        try:
            with transaction.atomic():
                saved, changed = apply_action(step, review=review, typed=typed, by=member)
                if changed:
                    self.log_change(request, saved, [{"changed": {"fields": changed}}])
        except OutOfDate as error:
            now = replace(typed, version=error.item.version)
            # The form that says more stands far below on a phone.
            said = gettext("Nothing is saved yet. See under “Verdict”.")
            self.message_user(request, f"{describe_change(error.item)} {said}", messages.ERROR)
            return self._page(request, self._again(request, error.item), typed=now, is_conflict=True)
        except ValidationError as error:
            self.message_user(request, " ".join(error.messages), messages.ERROR)
            return self._page(request, review, typed=typed)
        except Review.DoesNotExist:
            return self._gone(request)
        if lesson := describe_lesson(review, saved):
            self.message_user(request, lesson, messages.SUCCESS)
        if step == DONE:
            forget_reader(review, member)
            request.session[UNDO] = {"review": str(saved), "token": undo_token(saved, before)}
            following = next_open(review_queue(self, request), saved, member)
            if following is None:
                self.message_user(request, gettext("Nothing is left to do in this list."), messages.SUCCESS)
            return redirect(self._address(request, following, is_list=following is None))
        if step in ASSIGNING and (typed.comment.strip() or typed.verdict != saved.verdict):
            return self._page(request, self._again(request, saved), typed=replace(typed, version=saved.version))
        return redirect(self._address(request, review.pk))

    def _again(self, request: HttpRequest, review: Review) -> Review:
        row: Review = get_object_or_404(self.get_queryset(request), pk=review.pk)
        return row

    def _gone(self, request: HttpRequest) -> HttpResponse:
        """Say that the review was deleted with its conversation, or is another team's."""
        self.message_user(request, gettext("There is no such answer, or it was deleted."), messages.WARNING)
        return redirect(self._address(request, None, is_list=True))

    def _address(self, request: HttpRequest, pk: int | None, *, is_list: bool = False) -> str:
        """Return the address of the list or of one of its rows, filtered as before; empty if there is none."""
        filters = request.GET.get(FILTERS, "")
        if is_list:
            return f"{reverse('admin:analytics_review_changelist')}?{filters}" if filters else reverse("to-do")
        if pk is None:
            return ""
        address = reverse("admin:analytics_review_change", args=[pk])
        return f"{address}?{django_urlencode({FILTERS: filters})}" if filters else address

    def undo_view(self, request: HttpRequest) -> HttpResponse:
        """Undo the last action, unless somebody acted on the review since."""
        if not self.has_change_permission(request):
            raise PermissionDenied
        try:
            pk, version, before = read_undo_token(request.POST.get("token", ""))
        except signing.BadSignature:
            self.message_user(request, gettext("This can no longer be undone."), messages.WARNING)
            return redirect(self._address(request, None, is_list=True))
        review = get_object_or_404(self.get_queryset(request), pk=pk)
        try:
            with transaction.atomic():
                undone = restore_review(review=review, version=version, before=before, by=signed_in_member(request))
                learned = ["confirmed"] if undone.confirmed_id != review.confirmed_id else []
                self.log_change(request, undone, [{"changed": {"fields": ["state", "verdict", *learned]}}])
        except OutOfDate as error:
            said = gettext("Nothing was undone.")
            self.message_user(request, f"{describe_change(error.item)} {said}", messages.WARNING)
        else:
            if lesson := describe_lesson(review, undone):
                self.message_user(request, lesson, messages.SUCCESS)
        return redirect(self._address(request, pk))

    def keep_view(self, request: HttpRequest, review_id: int) -> HttpResponse:
        """Save the question for the evaluation, so that later changes are tried on it."""
        if not (self.has_view_or_change_permission(request) and request.user.has_perm(MAY_KEEP)):
            raise PermissionDenied
        review = get_object_or_404(self.get_queryset(request).select_related("message__question"), pk=review_id)
        try:
            are_right = review.verdict != Review.Verdict.WRONG_RETRIEVAL
            kept = keep_as_regression(message=review.message, by=signed_in_member(request), expects_cited=are_right)
        except ValidationError as error:
            self.message_user(request, " ".join(error.messages), messages.ERROR)
        else:
            count = kept.judgments.count()
            said = gettext("The question is a test question now: changes are tried on it before they go live.")
            expected = ngettext(
                "%(count)d document that the answer cited is expected: check it under “What should answer it”.",
                "%(count)d documents that the answer cited are expected: check them under “What should answer it”.",
                count,
            )
            none = gettext("No document is expected yet: say which is right under “What should answer it”.")
            self.message_user(request, f"{said} {expected % {'count': count} if count else none}", messages.SUCCESS)
        return redirect(self._address(request, review.pk))

    def meant_view(self, request: HttpRequest, review_id: int) -> HttpResponse:
        """Save which FAQ the question means, so that like questions are matched to it."""
        if not (self.has_change_permission(request) and may_confirm(request.user)):
            raise PermissionDenied
        review = get_object_or_404(self.get_queryset(request), pk=review_id)
        try:
            meant = read_meant(request.POST, may_search=may_see_faqs(request.user))
            confirm_meaning(review_id=review.pk, meant=meant, by=request.user)
        except ValidationError as error:
            self.message_user(request, " ".join(error.messages), messages.ERROR)
        else:
            self.log_change(request, review, [{"changed": {"fields": ["confirmed"]}}])
            said = gettext("Noted: the next question like this one is matched so.")
            self.message_user(request, said, messages.SUCCESS)
        return redirect(self._address(request, review.pk))

    def assign_view(self, request: HttpRequest, review_id: int) -> HttpResponse:
        """Save who looks after the answer, and until when."""
        if not self.has_change_permission(request):
            raise PermissionDenied
        review = get_object_or_404(self.get_queryset(request), pk=review_id)
        if typed := assign_item(request, review):
            return self._page(request, self._again(request, review), assignment=typed)
        return redirect(self._address(request, review.pk))

    def faqs_view(self, request: HttpRequest, review_id: int) -> JsonResponse:
        """Return the FAQs that the question can mean and that have the words typed."""
        if not (self.has_change_permission(request) and may_confirm(request.user) and may_see_faqs(request.user)):
            raise PermissionDenied
        review = get_object_or_404(self.get_queryset(request), pk=review_id)
        return list_found(list_meanable(review, request.user), request.GET)

    def reading_view(self, request: HttpRequest, review_id: int) -> JsonResponse:
        """Note that the page is open; return who else has the review open, and its version."""
        if not self.has_change_permission(request):
            raise PermissionDenied
        review = get_object_or_404(self.get_queryset(request), pk=review_id)
        member = signed_in_member(request)
        note_reader(review, member)
        state = {"version": review.version, "readers": others_reading(review, member)}
        return JsonResponse(state, headers={"Cache-Control": "no-store"})
