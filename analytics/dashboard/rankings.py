"""Rankings of a period beside the one before, on the counts alone: documents, FAQs and topics by their answers."""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, F, Max, OuterRef, Q, QuerySet, Subquery, Sum, Value, Window
from django.db.models.lookups import GreaterThanOrEqual
from django.utils import timezone

from analytics.dashboard.types import Complement, NeverCited, People, Ranked
from analytics.dashboard.visibility import INSIDE, Row, View, rows_in_view, span_filter, wider
from analytics.models import DocumentCount, FAQCount, Gap, Topic, TopicCount
from analytics.periods import Period, Step
from chat.models.assistants import OfAssistants
from core.access import Staff
from faqs.models import FAQ
from knowledge.models import Document

SHOWN = 10
SHOWN_TOPICS = 5
THUMBS = ("thumbs_up", "thumbs_down")
#: What says how many people are behind a row, and behind its thumbs: only who may not see small groups needs it.
PEOPLE, PEOPLE_OF_THUMBS = ("newcomers", "busiest"), ("newcomers_up", "newcomers_down")
VIEW_TOPIC = "analytics.view_topic"
#: No figures are kept for longer, and so many topics are named: a university has some hundreds.
EVER, MOST = datetime.timedelta(days=3_660), 200
#: Topics that staff named or pinned.
KEPT = Q(is_pinned=True) | Q(named_by=Gap.NamedBy.STAFF)


@dataclass(frozen=True, slots=True)
class Ranking:
    """The key and name of a ranking; `further` are columns that are summed as well, `among` the only keys to rank."""

    of: str
    names: QuerySet[Any, Any]
    thumbs: Sequence[str] = ()
    further: Sequence[str] = ()
    limit: int = SHOWN
    among: Sequence[int] | None = None


def top_documents(view: View, among: Sequence[int] | None = None) -> list[Ranked]:
    """Return the publishable documents that most answers cite: one query."""
    ranking = Ranking("document", Document.objects.values("title"), among=among)
    return rank(DocumentCount.objects.all(), view, ranking)


def top_faqs(view: View, among: Sequence[int] | None = None) -> list[Ranked]:
    """Return the publishable FAQs that influenced most answers: one query."""
    return rank(FAQCount.objects.all(), view, Ranking("faq", FAQ.objects.values("question"), THUMBS, among=among))


def top_topics(view: View, among: Sequence[int] | None = None) -> list[Ranked]:
    """Return the publishable topics that most was asked about: one query. `answers` are their questions."""
    topics = Topic.objects.filter(merged_into=None).values("name")
    ranking = Ranking("topic", topics, THUMBS, limit=SHOWN_TOPICS, among=among)
    return rank(TopicCount.objects.all(), view, ranking)


def topics_to_name(by: Staff) -> list[Topic]:
    """Return topics about enough people, and those that staff named or pinned, by name: two queries.

    The name of any other topic is a question of few people.
    """
    if not by.has_perm(VIEW_TOPIC):
        return []
    today = timezone.localdate()
    ever = View(Period(today - EVER, today), Step.MONTH, by)
    # A view of everything has no wider one: what may be ranked has enough people.
    asked = rank(TopicCount.objects.all(), ever, Ranking("topic", Topic.objects.values("name"), limit=MOST))
    topics = Topic.objects.visible_to(by).filter(KEPT | Q(pk__in=[row.pk for row in asked]), merged_into=None)
    found = topics.defer("centroid").select_related("assistant")
    return sorted(found, key=lambda topic: topic.title.casefold())


def never_cited(view: View) -> NeverCited:
    """Return published documents that no answer of the period cites, the oldest change first: one query.

    For readers who may not see small groups, documents that few people's answers cite are among them: left out,
    they would be identified.
    """
    rows = rows_in_view(DocumentCount.objects.all(), view).filter(span_filter(view.period) & Q(outside=INSIDE))
    cited = rows.order_by().values("document")
    if view.least > 1:
        cited = cited.annotate(new=Sum("newcomers"), most=Max("busiest"))
        cited = cited.filter(Q(new__gte=view.least) | Q(most__gte=view.least)).values("document")
    published = Document.objects.visible_to(view.by).of_university().published()
    never = published.exclude(pk__in=cited).order_by("updated_at", "pk")
    found = list(never.annotate(all=Window(Count("*"))).values_list("pk", "title", "all")[:SHOWN])
    return NeverCited(found[0][2] if found else 0, [(pk, title) for pk, title, _all in found])


def rank(counts: OfAssistants[Row], view: View, ranking: Ranking) -> list[Ranked]:
    """Rank rows: one query.

    Names are looked up only for rows that are shown: grouping by them too took three times as long.
    """
    now = Q(day__gte=view.period.first)
    rows = rows_in_view(counts, view).filter(span_filter(view.period) | span_filter(view.period.before))
    if ranking.among is not None:
        rows = rows.filter(**{f"{ranking.of}__in": ranking.among})
    sums: dict[str, Any] = {}
    for place in {INSIDE}.union(*wider(view).values()):
        is_there = Q(outside=place) if wider(view) else Q()
        for when, wanted in (("now", now & is_there), ("before", ~now & is_there)):
            sums[f"answers_{when}_{place}"] = Sum("answers", filter=wanted, default=0)
            if view.least > 1:
                sums[f"newcomers_{when}_{place}"] = Sum("newcomers", filter=wanted, default=0)
                sums[f"busiest_{when}_{place}"] = Max("busiest", filter=wanted, default=0)
        once = (*_thumbs(view, ranking), *ranking.further)
        sums |= {f"{name}_now_{place}": Sum(name, filter=now & is_there, default=0) for name in once}
    found = rows.order_by().values(ranking.of).annotate(**sums).filter(_may_rank(view))
    named = found.annotate(name=Subquery(ranking.names.filter(pk=OuterRef(ranking.of))[:1]))
    ordered = named.order_by(f"-answers_now_{INSIDE}", ranking.of)
    return [_ranked(each, view, ranking) for each in ordered[: ranking.limit]]


def _thumbs(view: View, ranking: Ranking) -> Sequence[str]:
    return (*ranking.thumbs, *PEOPLE_OF_THUMBS) if ranking.thumbs and view.least > 1 else ranking.thumbs


def _may_rank(view: View) -> Q:
    """Filter out rows with too few people before ranking: a short list would give them away."""
    asked = Q(**{f"answers_now_{INSIDE}__gt": 0})
    for held in ({INSIDE}, *wider(view).values()) if view.least > 1 else ():
        people = sum((F(f"newcomers_now_{place}") for place in held), Value(0))
        enough = Q(GreaterThanOrEqual(people, view.least))
        for place in held:
            enough |= Q(**{f"busiest_now_{place}__gte": view.least})
        nobody = Q(**{f"answers_now_{place}": 0 for place in held})
        asked &= enough | nobody
    return asked


def _ranked(row: Mapping[str, Any], view: View, ranking: Ranking) -> Ranked:
    def people(when: str, place: int) -> People:
        return People(*(row.get(f"{name}_{when}_{place}", 0) for name in PEOPLE))

    def complement(when: str) -> Complement:
        return {
            each: sum((people(when, place) for place in held), People())
            for each, held in wider(view).items()
            if any(row[f"answers_{when}_{place}"] for place in held)
        }

    def complement_thumbs(which: str) -> Complement:
        return {
            each: People(sum(row[f"newcomers_{which}_now_{place}"] for place in held))
            for each, held in wider(view).items()
            if ranking.thumbs and any(row[f"thumbs_{which}_now_{place}"] for place in held)
        }

    return Ranked(
        pk=row[ranking.of],
        name=row["name"],
        answers=row[f"answers_now_{INSIDE}"],
        before=row[f"answers_before_{INSIDE}"],
        people=people("now", INSIDE),
        people_before=people("before", INSIDE),
        complement=complement("now"),
        complement_before=complement("before"),
        complement_up=complement_thumbs("up"),
        complement_down=complement_thumbs("down"),
        further={name: row[f"{name}_now_{INSIDE}"] for name in ranking.further},
        further_complement={
            (name, each): sum(row[f"{name}_now_{place}"] for place in held)
            for name in ranking.further
            for each, held in wider(view).items()
        },
        **{thumb: row[f"{thumb}_now_{INSIDE}"] for thumb in _thumbs(view, ranking)},
    )
