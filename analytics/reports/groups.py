"""The groups of answers that a report may show: by the dashboard's rule, and by who is behind its own rows.

A group is an assistant, a site and a language. It is shown if the dashboard would show it as a view of its own
(`dashboard.suppression.publishable_views`), if enough visitors are behind its rows, and if a report with fewer filters
would not hold a few visitors more of it.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import chain, combinations
from operator import and_
from typing import Any

from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Count, Max, Q, Sum

from analytics.counts.outcomes import OUTCOMES
from analytics.dashboard.suppression import Cell, Views, publishable_views, suppressed_cells
from analytics.dashboard.types import People
from analytics.dashboard.visibility import span_filter
from analytics.models import UsageCount
from analytics.periods import Period
from analytics.reports.definition import Definition
from analytics.reports.permissions import Rights
from analytics.reports.queries import GROUP, OUTCOME, Extent, Group, answers_in, chosen, fetch, narrowings
from chat.models import Message

VISITOR = "conversation__visitor"
#: A group, in the counts by day.
PLACE = ("assistant", "site", "language")
#: The columns of students' ratings, which hang on a thumb, those of stars, of contacts used, and of what became of the
#: conversation, which hangs on thumbs and stars, too; and what a row's visitor gave.
OPINIONS: Mapping[str, tuple[Collection[str], Q]] = {
    "up": (("thumbs", "reasons", "comment"), Q(feedback__value=1)),
    "down": (("thumbs", "reasons", "comment"), Q(feedback__value=-1)),
    "starred": (("stars",), Q(conversation__stars__isnull=False)),
    **{kind: (("contacts",), Q(contacts_used__contains=[kind])) for kind in Message.Contact.values},
    **{f"became_{name}": ((OUTCOME,), Q(became=name)) for name in OUTCOMES},
}
#: What filters tell though no column does, or a column does not: by the filter, the column that hides it.
TELLING = {"thumbs": "thumbs", "outcomes": OUTCOME, "topics": None}


def measure_extent(
    definition: Definition,
    period: Period,
    rights: Rights,
    columns: Collection[str],
    using: BaseDatabaseWrapper = connection,
) -> Extent:
    """Count the rows and groups: one query, and one on the counts by day for readers who may not see small groups.

    `columns` are those that a report has.
    """
    if rights.smallest <= 1:
        counted = chosen(definition, period, rights).order_by().values(*GROUP).annotate(rows=Count("pk"))
        found = [(tuple(group), rows) for *group, rows in fetch(counted.values_list(*GROUP, "rows"), using)]
        return Extent(sum(rows for _group, rows in found), 1, {group: frozenset() for group, _rows in found})
    views = _publishable(period, rights, using)
    groups = _read_groups(definition, period, rights, columns, using)
    publishable = _publishable_groups(groups, views, definition, rights.smallest)
    empty = _empty_columns(groups, publishable, rights.smallest)
    hiding = {column for name, column in TELLING.items() if getattr(definition, name) and column}
    shown = [
        each
        for each in groups
        if _is_chosen(each.group, definition)
        and each.group in publishable
        and min([each.visitors, *each.beside]) >= rights.smallest
        and hiding.isdisjoint(empty[each.group])
    ]
    few = {each.group: empty[each.group] | _columns(each.gave, rights.smallest) for each in shown}
    return Extent(sum(each.rows for each in shown), rights.smallest, few)


@dataclass(frozen=True, slots=True)
class _Counted:
    """A group of all answers of the period: `rows` and `visitors` of those that the report chooses.

    `beside` are the visitors of what reports with fewer filters hold besides, where they hold anything; `gave` and
    `gave_in_all` how many visitors gave an opinion, in the report and in the period.
    """

    group: Group
    rows: int
    visitors: int
    beside: Sequence[int]
    gave: Mapping[str, int]
    gave_in_all: Mapping[str, int]


def _read_groups(
    definition: Definition, period: Period, rights: Rights, columns: Collection[str], using: BaseDatabaseWrapper
) -> list[_Counted]:
    narrowed = narrowings(definition)
    told = {*columns, *(TELLING[name] for name in narrowed if name in TELLING)}
    opinions = {name: given for name, (of, given) in OPINIONS.items() if not told.isdisjoint(of)}
    answers = answers_in(period, rights, with_outcome=OUTCOME in told)
    here = _all_of(narrowed.values())
    wider = list(_subsets([name for name in narrowed if name in TELLING]))
    sums: dict[str, Any] = {"rows": Count("pk", filter=here), "visitors": _visitors(here)}
    for place, without in enumerate(wider):
        others = _all_of(each for name, each in narrowed.items() if name not in without)
        beside = others & ~_all_of(narrowed[name] for name in without)
        sums[f"beside_{place}"] = _visitors(beside)
    sums |= {f"all_{name}": _visitors(given) for name, given in opinions.items()}
    if narrowed:
        sums |= {f"gave_{name}": _visitors(here & given) for name, given in opinions.items()}
    counted = answers.order_by().values(*GROUP).annotate(**sums)
    found = []
    for assistant, site, language, rows, visitors, *others in fetch(counted.values_list(*GROUP, *sums), using):
        beside, gave_in_all = others[: len(wider)], others[len(wider) : len(wider) + len(opinions)]
        gave = others[len(wider) + len(opinions) :] if narrowed else gave_in_all
        found.append(
            _Counted(
                group=(assistant, site, language),
                rows=rows,
                visitors=visitors,
                beside=[count for count in beside if count],
                gave=dict(zip(opinions, gave, strict=True)),
                gave_in_all=dict(zip(opinions, gave_in_all, strict=True)),
            )
        )
    return found


def _visitors(which: Q) -> Count:
    return Count(VISITOR, distinct=True, filter=which)


def _all_of(conditions: Iterable[Q]) -> Q:
    return reduce(and_, conditions, Q(pk__isnull=False))


def _subsets(names: Sequence[str]) -> Iterable[tuple[str, ...]]:
    """Return the choices of at least one of the names."""
    return chain.from_iterable(combinations(names, size) for size in range(1, len(names) + 1))


def _publishable(period: Period, rights: Rights, using: BaseDatabaseWrapper) -> Views:
    """Return what the dashboard shows of the period: one query on the counts."""
    counts: Any = UsageCount.objects.filter(span_filter(period))
    if not rights.is_whole:
        counts = counts.filter(assistant__in=rights.assistants)
    summed = counts.order_by().values(*PLACE).annotate(new=Sum("newcomers"), most=Max("busiest"))
    cells = {
        _cell((assistant, site, language)): People(new, most)
        for assistant, site, language, new, most in fetch(summed.values_list(*PLACE, "new", "most"), using)
        if new or most
    }
    return publishable_views(cells, least=rights.smallest)


def _cell(group: Group) -> Cell:
    assistant, site, language = group
    return ("" if assistant is None else str(assistant), "" if site is None else str(site), language)


def _publishable_groups(
    groups: Sequence[_Counted], views: Views, definition: Definition, least: int
) -> frozenset[Group]:
    """Return the groups that the dashboard would show as views of their own.

    If there is none, a report of everything has all groups that are large enough: its sum beside the dashboard's tells
    how few there were besides, but nothing that they asked. Else one visitor with another language would empty it.
    """
    large = frozenset(each.group for each in groups if _cell(each.group) in views.cells)
    found = frozenset(group for group in large if _is_published(_cell(group), views))
    if found or definition.assistants or definition.site is not None or definition.language:
        return found
    return frozenset(each.group for each in groups if each.group in large and each.visitors >= least)


def _is_published(cell: Cell, views: Views) -> bool:
    return views.publishes(assistant=cell[0], site=cell[1], language=cell[2])


def _is_chosen(group: Group, definition: Definition) -> bool:
    assistant, site, language = group
    return (
        (not definition.assistants or assistant in definition.assistants)
        and definition.site in (None, site)
        and definition.language in ("", language)
    )


def _empty_columns(
    groups: Sequence[_Counted], publishable: Collection[Group], least: int
) -> dict[Group, frozenset[str]]:
    """Return the columns of opinions that are empty in all reports of the period, by group.

    The dashboard tells how many of each there are in all: so many groups are empty that the others do not give away
    what fewer visitors gave.
    """
    hidden: dict[Group, set[str]] = {each.group: set() for each in groups}
    unseen = {each.group for each in groups} - set(publishable)
    for name in groups[0].gave_in_all if groups else ():
        # Somebody may have given one in two groups: the visitors of both cannot be added up.
        sides = {each.group: {name: People(busiest=count)} for each in groups if (count := each.gave_in_all[name])}
        for group in suppressed_cells(sides, least=least, suppressed=unseen):
            hidden[group].update(OPINIONS[name][0])
    return {group: frozenset(columns) for group, columns in hidden.items()}


def _columns(gave: Mapping[str, int], least: int) -> frozenset[str]:
    """Return the columns of opinions that some visitors gave, but fewer than `least`."""
    return frozenset(column for name, count in gave.items() if 0 < count < least for column in OPINIONS[name][0])
