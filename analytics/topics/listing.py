"""The topics of a period, with the same rule for small groups as the dashboard's lists."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import Count, F, QuerySet
from django.utils import timezone

from analytics.counts.daily import find_day_bounds
from analytics.dashboard.rankings import THUMBS, Ranking, rank
from analytics.dashboard.suppression import rank_without_small_groups
from analytics.dashboard.types import Ranked
from analytics.dashboard.visibility import View
from analytics.models import Topic, TopicCount
from analytics.periods import Range, period_for, step_for
from chat.models import Citation, Message
from core.access import Staff

#: Topics of one page; a university has some hundreds.
LISTED = 200
#: Topics of a name that are compared with what may be shown.
MOST_SEARCHED = 50
#: Pages that answer a topic.
PAGES = 10


@dataclass(frozen=True, slots=True)
class TopicRow:
    """A topic in a period; `answers` are its questions. None is suppressed, or where there is nothing to share.

    `beside` is the same topic in the view that this one is compared with.
    """

    topic: Topic
    ranked: Ranked
    beside: "TopicRow | None" = None

    @property
    def answered_share(self) -> float | None:
        answered = self.ranked.further.get("answered")
        return None if answered is None or not self.ranked.answers else answered / self.ranked.answers

    @property
    def liked_share(self) -> float | None:
        up, down = self.ranked.thumbs_up, self.ranked.thumbs_down
        return None if up is None or down is None or not up + down else up / (up + down)

    @property
    def handed_over(self) -> int | None:
        return self.ranked.further.get("handed_over")


def topics_in(view: View, *, among: Sequence[int] | None = None) -> list[TopicRow]:
    """Return the topics that most was asked of, pinned ones first: two queries. `among` are the only ids to list."""
    ranking = Ranking("topic", Topic.objects.values("name"), THUMBS, ("answered", "handed_over"), LISTED, among)
    found = rank(TopicCount.objects.all(), view, ranking)
    if view.least > 1:
        found = [_without_few(row, view.least) for row in rank_without_small_groups(found, view.least)]
    topics = Topic.objects.visible_to(view.by).filter(merged_into=None).defer("centroid").select_related("assistant")
    there = topics.in_bulk([row.pk for row in found])
    rows = [TopicRow(there[row.pk], row) for row in found if row.pk in there]
    return sorted(rows, key=lambda row: not row.topic.is_pinned)


def find_topics(words: Sequence[str], *, by: Staff, most: int) -> list[Topic]:
    """Find topics whose name has each of the words.

    For staff who may not see small groups, those that staff named or pinned, or that enough people asked about lately.
    """
    topics = Topic.objects.visible_to(by).filter(merged_into=None).defer("centroid").order_by("-is_pinned", "pk")
    for word in words:
        topics = topics.filter(name__icontains=word)
    today = timezone.localdate()
    period = period_for(Range.MONTH, today=today, first_day=None)
    view = View(period=period, step=step_for(period), by=by)
    if view.least <= 1:
        return list(topics[:most])
    found = list(topics[:MOST_SEARCHED])
    shown = {row.topic.pk for row in topics_in(view, among=[topic.pk for topic in found])} if found else set()
    return [topic for topic in found if topic.is_kept or topic.pk in shown][:most]


def compare_topics(rows: Sequence[TopicRow], view: View) -> list[TopicRow]:
    """Return the rows with what another view has of the same topics in place of the period before: two queries."""
    others = {row.topic.pk: row for row in topics_in(view, among=[row.topic.pk for row in rows])}
    nothing = 0 if view.least <= 1 else None
    return [
        replace(row, beside=other, ranked=replace(row.ranked, before=other.ranked.answers if other else nothing))
        for row, other in ((row, others.get(row.topic.pk)) for row in rows)
    ]


def _without_few(row: Ranked, least: int) -> Ranked:
    """Suppress cases of few people, here or beside the view."""
    few = any(0 < count < least for count in (row.further["handed_over"] or 0, *_beside(row)))
    return replace(row, further={**row.further, "handed_over": None}) if few else row


def _beside(row: Ranked) -> list[int]:
    return [count for (name, _view), count in row.further_complement.items() if name == "handed_over"]


def questions_of(topic: Topic, view: View) -> QuerySet[Message]:
    """Return the questions of the period that are not deleted."""
    begins, ends = find_day_bounds(view.period.first)[0], find_day_bounds(view.period.last)[1]
    asked = Message.objects.filter(
        topic_question__topic=topic, created_at__gte=begins, created_at__lt=ends
    ).without_help()
    if view.site is not None:
        asked = asked.filter(conversation__site=view.site)
    return asked.filter(language=view.language) if view.language else asked


def pages_of(topic: Topic, view: View) -> Sequence[Mapping[str, Any]]:
    """Return the pages that answers to these cite most, without those for few visitors: one query."""
    asked = questions_of(topic, view).values("pk")
    cited = Citation.objects.filter(message__question__in=asked, document__isnull=False)
    pages = cited.order_by().values("document", name=F("document__title"))
    counted = pages.annotate(
        answers=Count("message", distinct=True), visitors=Count("message__conversation__visitor", distinct=True)
    )
    return list(counted.filter(visitors__gte=view.least).order_by("-answers", "document")[:PAGES])
