"""The page of one answer under review: what is shown there, and what its buttons do."""

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
from django.utils.http import urlencode
from django.utils.translation import gettext
from django.views.decorators.http import require_POST

from analytics.admin.review_order import FILTERS, neighbours, next_open, queue_of
from analytics.admin.review_page import page_of
from analytics.admin.review_steps import ASSIGNING, DONE, STEPS, Typed, read_undo_token, take_step, typed_in, undo_token
from analytics.models import Review
from analytics.regression_services import keep_as_regression
from analytics.review_services import OutOfDate, decided, restore_review
from analytics.reviews.reading import forget_reader, note_reader, others_reading
from knowledge.scoped_admin import ScopedAdmin

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    ReviewModelAdmin = admin.ModelAdmin[Review]
else:
    ReviewModelAdmin = admin.ModelAdmin

#: Where the session holds the last step until a page has offered to undo it.
UNDO = "review_undo"
MAY_KEEP = "analytics.add_evaluationquestion"


def member_of(request: HttpRequest) -> "User":
    """Who is signed in: `admin_view` lets nobody else in."""
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
            *super().get_urls(),
        ]

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """A POST takes one of `STEPS`, and opens the next one where that finished this one."""
        review = self.get_object(request, unquote(object_id))
        if review is None:
            return self._gone(request)
        if not self.has_view_or_change_permission(request, review):
            raise PermissionDenied
        return self._step(request, review) if request.method == "POST" else self._page(request, review)

    def _page(
        self, request: HttpRequest, review: Review, *, typed: Typed | None = None, is_conflict: bool = False
    ) -> HttpResponse:
        member, may_change = member_of(request), self.has_change_permission(request, review)
        if may_change:
            note_reader(review.pk, member)
        queue = queue_of(self, request)
        before, after = neighbours(queue, review, request)
        context = {
            **self.admin_site.each_context(request),
            **page_of(review, member, typed=typed, is_conflict=is_conflict),
            "title": gettext("Review an answer"),
            "opts": self.opts,
            "media": self.media,
            "may_change": may_change,
            "previous": self._address(request, before),
            "next": self._address(request, after),
            "list": self._address(request, None, is_list=True),
            "left": queue.filter(state=Review.State.OPEN).count(),
            "undo": request.session.pop(UNDO, None),
            "may_keep": member.has_perm(MAY_KEEP),
        }
        status = 409 if is_conflict else 200
        return TemplateResponse(request, "admin/analytics/review/change_form.html", context, status=status)

    def _step(self, request: HttpRequest, review: Review) -> HttpResponse:
        step, typed, member = request.POST.get("step", ""), typed_in(request.POST), member_of(request)
        if not self.has_change_permission(request, review):
            raise PermissionDenied
        if step not in STEPS:
            raise Http404
        before = decided(review)
        try:
            with transaction.atomic():
                saved, changed = take_step(step, review=review, typed=typed, by=member)
                if changed:
                    self.log_change(request, saved, [{"changed": {"fields": changed}}])
        except OutOfDate as error:
            now = replace(typed, version=error.review.version)
            # The form that says more stands far below on a phone.
            said = gettext("It was changed meanwhile: nothing is saved yet. See under “Verdict”.")
            self.message_user(request, said, messages.ERROR)
            return self._page(request, self._again(request, error.review), typed=now, is_conflict=True)
        except ValidationError as error:
            self.message_user(request, " ".join(error.messages), messages.ERROR)
            return self._page(request, review, typed=typed)
        except Review.DoesNotExist:
            return self._gone(request)
        if step == DONE:
            forget_reader(review.pk, member)
            request.session[UNDO] = {"review": str(saved), "token": undo_token(saved, before)}
            following = next_open(queue_of(self, request), saved, member)
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
        """With its conversation, or it is another team's."""
        self.message_user(request, gettext("There is no such answer, or it was deleted."), messages.WARNING)
        return redirect(self._address(request, None, is_list=True))

    def _address(self, request: HttpRequest, pk: int | None, *, is_list: bool = False) -> str:
        """Of the list or of one of its rows, filtered as it was; empty where there is none."""
        filters = request.GET.get(FILTERS, "")
        if is_list:
            address = reverse("admin:analytics_review_changelist")
            return f"{address}?{filters}" if filters else address
        if pk is None:
            return ""
        address = reverse("admin:analytics_review_change", args=[pk])
        return f"{address}?{urlencode({FILTERS: filters})}" if filters else address

    def undo_view(self, request: HttpRequest) -> HttpResponse:
        """Takes the last step back, unless somebody did something to it since."""
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
                self.log_change(
                    request,
                    restore_review(review_id=review.pk, version=version, before=before),
                    [{"changed": {"fields": ["state", "verdict"]}}],
                )
        except OutOfDate:
            self.message_user(request, gettext("Somebody has changed it since: nothing was undone."), messages.WARNING)
        return redirect(self._address(request, pk))

    def keep_view(self, request: HttpRequest, review_id: int) -> HttpResponse:
        """Keeps the question, so that later changes are tried on it."""
        if not (self.has_view_or_change_permission(request) and request.user.has_perm(MAY_KEEP)):
            raise PermissionDenied
        review = get_object_or_404(self.get_queryset(request).select_related("message__question"), pk=review_id)
        try:
            keep_as_regression(message=review.message, by=member_of(request))
        except ValidationError as error:
            self.message_user(request, " ".join(error.messages), messages.ERROR)
        else:
            said = gettext("The question is in the regression set: changes are tried on it before they go live.")
            self.message_user(request, said, messages.SUCCESS)
        return redirect(self._address(request, review.pk))

    def reading_view(self, request: HttpRequest, review_id: int) -> JsonResponse:
        """What an open page says every half a minute; it hears who else has the review open, and its version."""
        if not self.has_change_permission(request):
            raise PermissionDenied
        review = get_object_or_404(self.get_queryset(request), pk=review_id)
        member = member_of(request)
        note_reader(review.pk, member)
        state = {"version": review.version, "readers": others_reading(review.pk, member)}
        return JsonResponse(state, headers={"Cache-Control": "no-store"})
