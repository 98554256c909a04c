"""Which documents answers cite most or never, and which FAQs steer most; a query each, read from the counts alone."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db.models import Count, F, Max, OuterRef, Q, QuerySet, Subquery, Sum, Value, Window
from django.db.models.lookups import GreaterThanOrEqual

from analytics.dashboard.values import Beside, NeverCited, People, Ranked
from analytics.dashboard.viewing import INSIDE, Row, View, rows_of, spans_of, wider
from analytics.models import DocumentCount, FAQCount
from chat.querysets import OfAssistants
from faqs.models import FAQ
from knowledge.models import Document

SHOWN = 10
THUMBS = ("thumbs_up", "thumbs_down", "newcomers_up", "newcomers_down")
SUMMED, HIGHEST = ("answers", "newcomers"), ("busiest",)


def top_documents(view: View) -> list[Ranked]:
    """Those that most answers cite, of those that may be told: one query."""
    return _ranked(DocumentCount.objects.all(), view, "document", Document.objects.values("title"), ())


def top_faqs(view: View) -> list[Ranked]:
    """Those that steer most answers, of those that may be told: one query."""
    return _ranked(FAQCount.objects.all(), view, "faq", FAQ.objects.values("question"), THUMBS)


def never_cited(view: View) -> NeverCited:
    """Published documents that no answer of the period cites, the oldest change first: one query.

    For who may not see small groups also those that few cite: left out, they would tell of these.
    """
    rows = rows_of(DocumentCount.objects.all(), view).filter(spans_of(view.period) & Q(outside=INSIDE))
    cited = rows.order_by().values("document")
    if view.least > 1:
        cited = cited.annotate(new=Sum("newcomers"), most=Max("busiest"))
        cited = cited.filter(Q(new__gte=view.least) | Q(most__gte=view.least)).values("document")
    published = Document.objects.for_staff(view.by).of_university().published()
    never = published.exclude(pk__in=cited).order_by("updated_at", "pk")
    found = list(never.annotate(all=Window(Count("*"))).values_list("pk", "title", "all")[:SHOWN])
    return NeverCited(found[0][2] if found else 0, [(pk, title) for pk, title, _all in found])


def _ranked(
    counts: OfAssistants[Row], view: View, of: str, names: QuerySet[Any, Any], thumbs: Sequence[str]
) -> list[Ranked]:
    """Names are looked up for those alone that are shown: grouping by them too took three times as long."""
    now = Q(day__gte=view.period.first)
    rows = rows_of(counts, view).filter(spans_of(view.period) | spans_of(view.period.before))
    sums: dict[str, Any] = {}
    for place in {INSIDE}.union(*wider(view).values()):
        is_there = Q(outside=place) if wider(view) else Q()
        for when, wanted in (("now", now & is_there), ("before", ~now & is_there)):
            sums |= {f"{name}_{when}_{place}": Sum(name, filter=wanted, default=0) for name in SUMMED}
            sums |= {f"{name}_{when}_{place}": Max(name, filter=wanted, default=0) for name in HIGHEST}
        sums |= {f"{name}_now_{place}": Sum(name, filter=now & is_there, default=0) for name in thumbs}
    found = rows.order_by().values(of).annotate(**sums).filter(_may_rank(view))
    ordered = found.annotate(name=Subquery(names.filter(pk=OuterRef(of))[:1])).order_by(f"-answers_now_{INSIDE}", of)
    return [_ranking(each, of, view, thumbs) for each in ordered[:SHOWN]]


def _may_rank(view: View) -> Q:
    """Those that too few are behind do not take the place of others: a list that is short would tell of them."""
    asked = Q(**{f"answers_now_{INSIDE}__gt": 0})
    for held in ({INSIDE}, *wider(view).values()) if view.least > 1 else ():
        people = sum((F(f"newcomers_now_{place}") for place in held), Value(0))
        enough = Q(GreaterThanOrEqual(people, view.least))
        for place in held:
            enough |= Q(**{f"busiest_now_{place}__gte": view.least})
        nobody = Q(**{f"answers_now_{place}": 0 for place in held})
        asked &= enough | nobody
    return asked


def _ranking(row: Mapping[str, Any], of: str, view: View, thumbs: Sequence[str]) -> Ranked:
    def people(when: str, place: int) -> People:
        return People(row[f"newcomers_{when}_{place}"], row[f"busiest_{when}_{place}"])

    def beside(when: str) -> Beside:
        return {
            each: sum((people(when, place) for place in held), People())
            for each, held in wider(view).items()
            if any(row[f"answers_{when}_{place}"] for place in held)
        }

    def beside_thumbs(which: str) -> Beside:
        return {
            each: People(sum(row[f"newcomers_{which}_now_{place}"] for place in held))
            for each, held in wider(view).items()
            if thumbs and any(row[f"thumbs_{which}_now_{place}"] for place in held)
        }

    return Ranked(
        pk=row[of],
        name=row["name"],
        answers=row[f"answers_now_{INSIDE}"],
        before=row[f"answers_before_{INSIDE}"],
        people=people("now", INSIDE),
        people_before=people("before", INSIDE),
        beside=beside("now"),
        beside_before=beside("before"),
        beside_up=beside_thumbs("up"),
        beside_down=beside_thumbs("down"),
        **{thumb: row[f"{thumb}_now_{INSIDE}"] for thumb in thumbs},
    )
