"""The review queue as a list: answers that went wrong, what is left to do first."""

from collections.abc import Callable, Iterator
from typing import Any

from django.contrib import admin, messages
from django.contrib.admin.models import CHANGE, LogEntry
from django.db import transaction
from django.db.models import OuterRef, QuerySet, Subquery
from django.db.models.functions import Left
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.text import format_lazy
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from analytics.models import Review
from analytics.reviews.admin.detail import UNDO, ReviewScreens, signed_in_member
from analytics.reviews.collect import collect_news
from analytics.reviews.services import finish_reviews, judge_reviews, take_reviews
from chat.models import Message
from chat.models.conversations import may_read_help
from core.admin.scoped import ScopedFilter

State = Review.State


class StateFilter(admin.SimpleListFilter):
    """Filter by state; open reviews by default."""

    title = _("state")
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [(State.DONE.value, State.DONE.label), ("all", _("all"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset if self.value() == "all" else queryset.filter(state=self.value() or State.OPEN)

    def choices(self, changelist: Any) -> Iterator[Any]:
        first, *others = super().choices(changelist)
        yield {**first, "display": gettext("open")}
        yield from others


class ReasonFilter(admin.SimpleListFilter):
    title = _("reason")
    parameter_name = "reason"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [*Review.Reason.choices]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(reasons__contains=[self.value()]) if self.value() else queryset


class VerdictFilter(admin.SimpleListFilter):
    title = _("verdict")
    parameter_name = "verdict"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("none", _("none yet")), *Review.Verdict.choices]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        value = self.value()
        return queryset.filter(verdict="" if value == "none" else value) if value else queryset


class AssignedFilter(admin.SimpleListFilter):
    title = _("assigned to")
    parameter_name = "assigned"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("me", _("me")), ("nobody", _("nobody")), ("others", _("others"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        match self.value():
            case "me":
                return queryset.filter(assigned_to=request.user.pk)
            case "nobody":
                return queryset.filter(assigned_to=None)
            case "others":
                return queryset.exclude(assigned_to=None).exclude(assigned_to=request.user.pk)
        return queryset


#: Characters of the question in the list.
OPENING = 120
Verdict = Review.Verdict


def judging(verdict: str, label: Any) -> Any:
    """Return an action of the list that gives this verdict."""

    @admin.action(description=format_lazy("{}: {}", _("Verdict"), label), permissions=["change"])
    def judge(model_admin: "ReviewAdmin", request: HttpRequest, queryset: QuerySet[Review]) -> None:
        member = signed_in_member(request)
        model_admin.at_once(
            request, queryset, "verdict", lambda rows: judge_reviews(reviews=rows, verdict=verdict, by=member)
        )

    judge.__name__ = f"judge_{verdict}"
    return judge


@admin.register(Review)
class ReviewAdmin(ReviewScreens):
    list_display = ["opening", "why", "question_excerpt", "asked", "judged", "whose"]
    list_filter = [
        StateFilter,
        ReasonFilter,
        AssignedFilter,
        VerdictFilter,
        ("assistant", ScopedFilter),
        "language",
        "asked_at",
    ]
    list_select_related = ["assistant", "assigned_to", "done_by", "gap"]
    list_per_page = 50
    show_full_result_count = False
    sortable_by = ()
    search_fields = ["message__question__text"]
    search_help_text = _("Searches the questions.")
    actions = ["take", "finish", *(judging(value, label) for value, label in Verdict.choices)]
    change_list_template = "admin/analytics/review/change_list.html"

    class Media:
        css = {"all": ["knowledge/admin.css", "knowledge/screens.css", "analytics/review_queue.css"]}

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_module_permission(self, request: HttpRequest) -> bool:
        """Hide this list from the navigation: the inbox lists the answers, and links here for more filters."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Review | None = None) -> bool:
        """Refuse: a review is deleted with its conversation, and would be collected again."""
        return False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Review]:
        rows: QuerySet[Review] = super().get_queryset(request)
        # Not joined: who only counts the rows would read 100,000 messages.
        asked = Message.objects.filter(answer=OuterRef("message")).values(begins=Left("text", OPENING))
        return rows.annotate(question_begins=Subquery(asked))

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Review], search_term: str
    ) -> tuple[QuerySet[Review], bool]:
        """Search the questions, without those of people in need for who may not read them."""
        found, may_repeat = super().get_search_results(request, queryset, search_term)
        if search_term and not may_read_help(request.user):
            found = found.exclude(message__route__in=Message.HELP_ROUTES)
        return found, may_repeat

    def row_title(self, request: HttpRequest, review: Any) -> str:
        """Return what the search over everything calls an answer: what was asked."""
        return self.opening(review)

    # --- the list ---

    @admin.display(description=_("question"))
    def opening(self, review: Any) -> str:
        begins = review.question_begins or "–"
        return begins if len(begins) < OPENING else f"{begins.rsplit(' ', 1)[0]} …"

    @admin.display(description=_("reasons"))
    def why(self, review: Review) -> str:
        reasons = [Review.Reason(reason).label for reason in review.reasons]
        return render_to_string("admin/analytics/review/reasons.html", {"reasons": reasons})

    @admin.display(description=_("assistant"))
    def question_excerpt(self, review: Review) -> str:
        return ", ".join(str(part) for part in (review.assistant, review.get_language_display()) if part) or "–"

    @admin.display(description=_("asked"))
    def asked(self, review: Review) -> str:
        return date_format(timezone.localtime(review.asked_at), "SHORT_DATETIME_FORMAT")

    @admin.display(description=_("verdict"))
    def judged(self, review: Review) -> str:
        return render_to_string("admin/analytics/review/judged.html", {"review": review})

    @admin.display(description=_("assigned to"))
    def whose(self, review: Review) -> str:
        return review.assigned_to.get_full_name() or review.assigned_to.get_username() if review.assigned_to else "–"

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        if request.method == "GET" and self.has_view_or_change_permission(request):
            collect_news()
        context = {"title": gettext("Review queue"), "undo": request.session.pop(UNDO, None), **(extra_context or {})}
        return super().changelist_view(request, context)

    @admin.action(description=_("Take the selected ones on"), permissions=["change"])
    def take(self, request: HttpRequest, queryset: QuerySet[Review]) -> None:
        member = signed_in_member(request)
        self.at_once(request, queryset, "assigned_to", lambda rows: take_reviews(reviews=rows, by=member))

    @admin.action(description=_("Mark the selected ones as done"), permissions=["change"])
    def finish(self, request: HttpRequest, queryset: QuerySet[Review]) -> None:
        member = signed_in_member(request)
        self.at_once(request, queryset, "state", lambda rows: finish_reviews(reviews=rows, by=member))

    @transaction.atomic
    def at_once(
        self,
        request: HttpRequest,
        chosen: QuerySet[Review],
        field: str,
        deed: Callable[[QuerySet[Review]], list[Review]],
    ) -> None:
        """Apply an action to several reviews and report how many; earlier decisions stay."""
        count = chosen.count()
        changed = deed(chosen)
        taught = [review for review in changed if field == "verdict" and review.confirmed_by_verdict]
        if changed:
            member = signed_in_member(request)
            others = [review for review in changed if not (field == "verdict" and review.confirmed_by_verdict)]
            for rows, fields in ((others, [field]), (taught, [field, "confirmed"])):
                message: Any = [{"changed": {"fields": fields}}]
                LogEntry.objects.log_actions(member.pk, rows, CHANGE, change_message=message)
        said = ngettext("%(count)d was changed.", "%(count)d were changed.", len(changed)) % {"count": len(changed)}
        if left := count - len(changed):
            kept = ngettext(
                "%(count)d was left as it is: somebody had decided on it before.",
                "%(count)d were left as they are: somebody had decided on them before.",
                left,
            )
            said = f"{said} {kept % {'count': left}}"
        if learned := len(taught):
            examples = ngettext(
                "Learned: the question of %(count)d means the FAQ that its answer relied on.",
                "Learned: the questions of %(count)d mean the FAQs that their answers relied on.",
                learned,
            )
            said = f"{said} {examples % {'count': learned}}"
        self.message_user(request, said, messages.SUCCESS if changed else messages.WARNING)
