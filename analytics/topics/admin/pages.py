"""The list of topics of a period, the page of one, and what staff change there."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from django.conf import settings
from django.contrib import admin, messages
from django.contrib.admin.models import CHANGE, LogEntry
from django.core.exceptions import PermissionDenied, ValidationError
from django.core.paginator import Paginator
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from analytics.dashboard.admin.comparison_form import ComparisonForm, Other
from analytics.dashboard.admin.links import Links
from analytics.dashboard.admin.view import range_links
from analytics.dashboard.formatting import NOTHING, Change, change, count_text, percent, period_name, whole
from analytics.dashboard.overview import choices_for, reach
from analytics.dashboard.rankings import VIEW_TOPIC
from analytics.dashboard.visibility import View
from analytics.models import Gap, Topic
from analytics.topics.admin.trend import build_trend
from analytics.topics.listing import TopicRow, compare_topics, pages_of, questions_of, topics_in
from analytics.topics.services import merge_topic, pin_topic, rename_topic, split_topic

if TYPE_CHECKING:
    from django.contrib.auth.models import User

CHANGE_TOPIC = "analytics.change_topic"
READ_QUESTIONS = "chat.view_conversation"
A_PAGE = 25


class TopicForm(ComparisonForm):
    """The dashboard's filters; a topic belongs to one assistant, so it is never compared with another's."""

    places = ("site", "language")


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of a topic, and the same one of what it is compared with."""

    label: str
    value: str
    beside: str


@dataclass(frozen=True, slots=True)
class Listed:
    """A topic as the list shows it."""

    topic: Topic
    questions: str
    change: Change
    figures: list[Figure]


def listed(row: TopicRow) -> Listed:
    ranked, beside = row.ranked, shares(row.beside) if row.beside else ("", "", "")
    return Listed(
        topic=row.topic,
        questions=whole(ranked.answers),
        change=change(ranked.answers, ranked.before, "" if ranked.before is None else whole(ranked.before)),
        figures=[Figure(*each) for each in zip(headings(), shares(row), beside, strict=True)],
    )


def headings() -> tuple[str, str, str]:
    return _("Answered"), _("Thumbs up"), _("Left with an office")


def shares(row: TopicRow) -> tuple[str, str, str]:
    return (
        NOTHING if row.answered_share is None else percent(row.answered_share),
        NOTHING if row.liked_share is None else percent(row.liked_share),
        count_text(row.handed_over),
    )


@require_safe
def topics_view(request: HttpRequest) -> HttpResponse:
    """List the topics of a period; `admin.site.admin_view` wraps it. Raise PermissionDenied."""
    form, context = _chosen(request)
    context["title"] = _("All topics")
    if form.is_valid():
        view, other = form.sides(request.user)
        rows = _compared(topics_in(view), other)
        context |= _period(view, other) | {"rows": [listed(row) for row in rows], "headings": headings()}
    return TemplateResponse(request, "admin/analytics/topics/list.html", context)


@require_safe
def topic_view(request: HttpRequest, topic_id: int) -> HttpResponse:
    """Show one topic; one that was joined to another leads there. Raise PermissionDenied, Http404."""
    form, context = _chosen(request)
    topic = get_object_or_404(Topic.objects.visible_to(request.user).select_related("assistant"), pk=topic_id)
    if topic.merged_into_id:
        return redirect("topic", topic.merged_into_id)
    if not form.is_valid():
        return redirect("topic", topic.pk)
    (view, other), user = form.sides(request.user), cast("User", request.user)
    row = next(iter(_compared(topics_in(view, among=[topic.pk]), other)), None)
    if row is None and view.least > 1 and not topic.is_kept:
        # Its name is a question of few people.
        raise Http404
    may_change = user.has_perm(CHANGE_TOPIC)
    context |= _period(view, other) | {
        "title": topic.title,
        "topic": topic,
        "row": listed(row) if row else None,
        "chart": build_trend(topic, view, request.GET),
        "pages": pages_of(topic, view),
        "may_see_documents": user.has_perm("knowledge.view_document"),
        "may_change": may_change,
        "others": _others(view, topic) if may_change else [],
        "joined": _joined(topic) if may_change else [],
        "report": Links(view, reach(user, topic.assistant_id)).answers_of(topic.pk) if row else "",
        **(_questions(request, topic, view) if user.has_perm(READ_QUESTIONS) else {}),
    }
    return TemplateResponse(request, "admin/analytics/topics/topic.html", context)


@require_POST
@transaction.atomic
def topic_change_view(request: HttpRequest, topic_id: int) -> HttpResponse:
    """Rename, pin, merge or split a topic. Raise PermissionDenied, Http404."""
    if not (request.user.has_perm(VIEW_TOPIC) and request.user.has_perm(CHANGE_TOPIC)):
        raise PermissionDenied
    own = Topic.objects.visible_to(request.user)
    topic = get_object_or_404(own, pk=topic_id)
    given = request.POST.get("version", "")
    version = int(given) if given.isdecimal() and len(given) < 10 else -1
    try:
        with transaction.atomic():
            shown, said, fields = _change(request, own, topic, version)
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
        return redirect("topic", topic.pk)
    LogEntry.objects.log_actions(
        cast("User", request.user).pk, [topic], CHANGE, [{"changed": {"fields": fields}}], single_object=True
    )
    messages.success(request, said)
    return redirect("topic", shown.pk)


def _change(request: HttpRequest, own: Any, topic: Topic, version: int) -> tuple[Topic, str, list[str]]:
    """Return the topic to show, what to say, and which fields changed. Raise ValidationError, Http404."""
    match request.POST.get("do"):
        case "rename":
            renamed = rename_topic(topic=topic, version=version, name=request.POST.get("name", ""))
            return renamed, _("The topic has a new name."), ["name"]
        case "pin" | "unpin" as chosen:
            pinned = pin_topic(topic=topic, version=version, is_pinned=chosen == "pin")
            said = _("The topic is pinned.") if pinned.is_pinned else _("The topic is no longer pinned.")
            return pinned, said, ["is_pinned"]
        case "merge":
            into = request.POST.get("into", "")
            other = own.filter(pk=int(into)).first() if into.isdecimal() and len(into) < 19 else None
            if other is None:
                raise ValidationError(_("Choose another topic of the same assistant."))
            merged = merge_topic(topic=topic, version=version, into=other)
            return merged, _("The topics are one now. Its figures of all days are those of both."), ["merged_into"]
        case "split":
            given = request.POST.get("joined", "")
            joined = own.filter(pk=int(given)).first() if given.isdecimal() and len(given) < 19 else None
            if joined is None:
                raise ValidationError(_("This topic is not joined to it any more."))
            split = split_topic(topic=topic, version=version, joined=joined)
            return split, _("The topic is one of its own again, with its questions and figures."), ["merged"]
    raise Http404


def _chosen(request: HttpRequest) -> tuple[TopicForm, dict[str, Any]]:
    """Return the filters, and what every page of topics shows. Raise PermissionDenied."""
    if not request.user.has_perm(VIEW_TOPIC):
        raise PermissionDenied
    choices = choices_for(request.user)
    named = {str(pk): pk for pk in choices.assistants}
    reached = reach(request.user, named.get(request.GET.get("assistant", "")))
    form = TopicForm(request.GET, choices=choices, reach=reached, today=timezone.localdate())
    del form.fields["step"]
    address = request.GET.copy()
    address.pop("p", None)
    context = {
        **admin.site.each_context(request),
        "form": form,
        "ranges": range_links(request, form),
        "least": settings.SMALLEST_GROUP,
        "address": address.urlencode(),
    }
    return form, context


def _compared(rows: list[TopicRow], other: Other | None) -> list[TopicRow]:
    return compare_topics(rows, other.view) if other else rows


def _period(view: View, other: Other | None) -> dict[str, Any]:
    return {
        "view": view,
        "other": other,
        "period": period_name(view.period),
        "before": other.said if other else period_name(view.period.before),
        "hides_small": view.least > 1,
    }


def _others(view: View, topic: Topic) -> list[Topic]:
    """Return the listed topics that it may be joined to, by name."""
    rows = [row.topic for row in topics_in(view) if row.topic.assistant_id == topic.assistant_id]
    return sorted((each for each in rows if each.pk != topic.pk), key=lambda each: each.title.casefold())


def _joined(topic: Topic) -> list[tuple[int, str]]:
    """Return the topics that staff joined to this one, by id; one without a name of staff's goes by its number."""
    rows = [each for each in topic.merged.defer("centroid").order_by("pk") if each.is_joined_by_staff]
    return [(each.pk, each.name if each.named_by == Gap.NamedBy.STAFF else str(each)) for each in rows]


def _questions(request: HttpRequest, topic: Topic, view: View) -> dict[str, Any]:
    rows = questions_of(topic, view).select_related("answer__feedback").order_by("-topic_question__centrality", "pk")
    page = Paginator(rows, A_PAGE).get_page(request.GET.get("p"))
    return {
        "page": page,
        "page_numbers": page.paginator.get_elided_page_range(page.number, on_each_side=2, on_ends=1),
    }
