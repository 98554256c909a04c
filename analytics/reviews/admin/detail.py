"""The page of one answer under review: what is shown there, and what its buttons do."""

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlencode

from django.contrib import admin, messages
from django.contrib.admin.models import LogEntry
from django.contrib.admin.utils import unquote
from django.contrib.auth.models import AbstractBaseUser
from django.contrib.contenttypes.models import ContentType
from django.core import signing
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.dateparse import parse_datetime
from django.utils.http import urlencode as django_urlencode
from django.utils.translation import gettext
from django.views.decorators.http import require_POST

from analytics.evaluation.services import keep_as_regression
from analytics.models import Review
from analytics.reviews.admin.order import FILTERS, neighbours, next_open, review_queue
from analytics.reviews.presence import forget_reader, note_reader, others_reading
from analytics.reviews.services import Decided, OutOfDate, assign_review, decided, judge_review, restore_review
from chat.admin.conversations import Turn, build_turn, describe_retrieved
from chat.admin.held_back import prefetch_held_back
from chat.models import Message
from chat.pipeline.question import profile_for
from core.admin.scoped import ScopedAdmin
from knowledge.models import Passage

if TYPE_CHECKING:
    from django.contrib.auth.models import User

SALT = "analytics.review.undo"
#: Seconds for which a step can be undone.
UNDONE_WITHIN = 3600
#: What the buttons are called.
DONE, SAVE, REOPEN, TAKE, RELEASE = STEPS = ("done", "save", "reopen", "take", "release")
ASSIGNING = (TAKE, RELEASE)
#: What a step may change, by the name that the audit log calls it.
CHANGING = {"verdict": "verdict", "state": "state", "assigned_to": "assigned_to_id"}


@dataclass(frozen=True, slots=True)
class Typed:
    """The values of the form: a verdict and a comment, and the version that they are meant for."""

    verdict: str
    comment: str
    version: int


def typed_in(posted: QueryDict) -> Typed:
    """Return what was typed; a version that cannot be read matches none."""
    version = posted.get("version", "")
    is_number = version.isdecimal() and len(version) < 10
    return Typed(posted.get("verdict", ""), posted.get("comment", ""), int(version) if is_number else -1)


def apply_action(step: str, *, review: Review, typed: Typed, by: AbstractBaseUser) -> tuple[Review, list[str]]:
    """Apply an action; return the review and the names of what changed.

    Raise what the services raise, and KeyError for an unknown action.
    """
    if step in ASSIGNING:
        to = by if step == TAKE else None
        return assign_review(review_id=review.pk, version=typed.version, to=to), ["assigned_to"]
    done = {DONE: True, SAVE: review.state == Review.State.DONE, REOPEN: False}[step]
    saved = judge_review(
        review_id=review.pk, version=typed.version, by=by, verdict=typed.verdict, comment=typed.comment, done=done
    )
    changed = [name for name, stored in CHANGING.items() if getattr(saved, stored) != getattr(review, stored)]
    return saved, [*changed, *(["comment"] if typed.comment.strip() else [])]


def undo_token(review: Review, before: Decided) -> str:
    """Sign how the review stood before; the token holds until somebody else changes it."""
    values = {**asdict(before), "done_at": before.done_at.isoformat() if before.done_at else None}
    return signing.dumps([review.pk, review.version, values], salt=SALT)


def read_undo_token(token: str) -> tuple[int, int, Decided]:
    """Return the review's id, the version to undo and how it stood. Raise signing.BadSignature."""
    pk, version, values = signing.loads(token, salt=SALT, max_age=UNDONE_WITHIN)
    done_at = parse_datetime(values["done_at"]) if values["done_at"] else None
    return pk, version, Decided(**{**values, "done_at": done_at})


#: Messages that are shown before the question, and after the answer.
BEFORE, AFTER = 6, 4


def passage_texts(answer: Message) -> dict[int, str]:
    """Return the texts of the retrieved passages that are still the same."""
    ids = [row["passage"] for row in answer.retrieved]
    return dict(Passage.objects.filter(pk__in=ids).values_list("pk", "text")) if ids else {}


def turns_around(answer: Message, user: "User") -> tuple[list[Turn], list[Turn]]:
    """Return the turns before the question and after the answer, oldest first."""
    said = Message.objects.filter(conversation=answer.conversation_id).select_related("feedback")
    said = said.prefetch_related("citations", prefetch_held_back())
    before = list(said.filter(pk__lt=answer.question_id or answer.pk).order_by("-pk")[:BEFORE])
    after = said.filter(pk__gt=answer.pk).order_by("pk")[:AFTER]
    return [build_turn(message, user) for message in reversed(before)], [build_turn(message, user) for message in after]


def answer_under(review: Review) -> Message:
    """Return the reviewed answer with all that the page shows of it."""
    rows = Message.objects.select_related("question", "feedback", "faq", "conversation__assistant__profile")
    return rows.prefetch_related("citations", prefetch_held_back()).get(pk=review.message_id)


def faq_address(answer: Message, review: Review) -> str:
    """Return the address of the form for a new FAQ with the student's question in it."""
    question = answer.rewritten or (answer.question.text if answer.question else "")
    given: dict[str, Any] = {"question": question, "language": review.language or "en"}
    collection = review.assistant.collections.order_by("pk").first() if review.assistant else None
    if collection:
        given["collection"] = collection.pk
    return f"{reverse('admin:faqs_faq_add')}?{urlencode(given)}"


def last_action(review: Review) -> LogEntry | None:
    """Return who of the staff acted on it last."""
    kind = ContentType.objects.get_for_model(Review)
    entries = LogEntry.objects.filter(content_type=kind, object_id=str(review.pk)).select_related("user")
    return entries.order_by("-action_time", "-pk").first()


def page_context(review: Review, user: "User", *, typed: Typed | None, is_conflict: bool) -> dict[str, Any]:
    """Return the template's context; `typed` is what was not saved, because of a conflict or a mistake."""
    answer = answer_under(review)
    before, after = turns_around(answer, user)
    may_add_faqs = user.has_perm("faqs.add_faq")
    return {
        "review": review,
        "answer": answer,
        "question": answer.question,
        "asked": build_turn(answer.question, user) if answer.question else None,
        "turn": replace(build_turn(answer, user), found=describe_retrieved(answer, passage_texts(answer))),
        "before": before,
        "after": after,
        "threshold": profile_for(answer.conversation.assistant).threshold,
        "reasons": [Review.Reason(reason).label for reason in review.reasons],
        "verdicts": list(enumerate(Review.Verdict.choices, start=1)),
        "comments": list(review.comments.select_related("by")),
        "typed": typed or Typed(review.verdict, "", review.version),
        "is_conflict": is_conflict,
        "last_action": last_action(review) if is_conflict else None,
        "readers": others_reading(review.pk, user),
        "faq_address": faq_address(answer, review) if may_add_faqs else "",
        "may_see_documents": user.has_perm("knowledge.view_document") or user.has_perm("knowledge.change_document"),
        "may_see_conversations": user.has_perm("chat.view_conversation"),
        "may_see_faqs": user.has_perm("faqs.view_faq") or user.has_perm("faqs.change_faq"),
    }


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
        self, request: HttpRequest, review: Review, *, typed: Typed | None = None, is_conflict: bool = False
    ) -> HttpResponse:
        member, may_change = signed_in_member(request), self.has_change_permission(request, review)
        if may_change:
            note_reader(review.pk, member)
        queue = review_queue(self, request)
        before, after = neighbours(queue, review, request)
        context = {
            **self.admin_site.each_context(request),
            **page_context(review, member, typed=typed, is_conflict=is_conflict),
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
            address = reverse("admin:analytics_review_changelist")
            return f"{address}?{filters}" if filters else address
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
                self.log_change(
                    request,
                    restore_review(review_id=review.pk, version=version, before=before),
                    [{"changed": {"fields": ["state", "verdict"]}}],
                )
        except OutOfDate:
            self.message_user(request, gettext("Somebody has changed it since: nothing was undone."), messages.WARNING)
        return redirect(self._address(request, pk))

    def keep_view(self, request: HttpRequest, review_id: int) -> HttpResponse:
        """Save the question for the evaluation, so that later changes are tried on it."""
        if not (self.has_view_or_change_permission(request) and request.user.has_perm(MAY_KEEP)):
            raise PermissionDenied
        review = get_object_or_404(self.get_queryset(request).select_related("message__question"), pk=review_id)
        try:
            keep_as_regression(message=review.message, by=signed_in_member(request))
        except ValidationError as error:
            self.message_user(request, " ".join(error.messages), messages.ERROR)
        else:
            said = gettext("The question is in the regression set: changes are tried on it before they go live.")
            self.message_user(request, said, messages.SUCCESS)
        return redirect(self._address(request, review.pk))

    def reading_view(self, request: HttpRequest, review_id: int) -> JsonResponse:
        """Note that the page is open; return who else has the review open, and its version."""
        if not self.has_change_permission(request):
            raise PermissionDenied
        review = get_object_or_404(self.get_queryset(request), pk=review_id)
        member = signed_in_member(request)
        note_reader(review.pk, member)
        state = {"version": review.version, "readers": others_reading(review.pk, member)}
        return JsonResponse(state, headers={"Cache-Control": "no-store"})
