"""Statistical disclosure control: figures about fewer than `least` people are suppressed; pure.

A figure is publishable if at least so many different people are known to be behind it (`types.People`). Somebody who
asks on several days, in several languages or on several sites counts once. Sums of a publishable group are publishable;
thumbs, stars and contacts used are about at most as many people as there are thumbs, rated conversations or such uses.

Complementary suppression (Willenborg and de Waal, Elements of Statistical Disclosure Control, 2001): of the parts of a
known whole so many are suppressed (`suppressed_cells`) that the difference between the whole and what is shown is no
small group either. For assistants, sites and languages that is decided for all views at once (`publishable_views`).
Opinions, days, hours, FAQs and documents of a view are compared with the same of each wider view: what that holds
besides (its complement) must be no small group.

Questions by hour, and ratings by reason or by FAQ, are groups of their own, of which only newcomers are known: somebody
may ask five times in an hour. Each newcomer has one hour, so suppressed hours can be added up. A rating has any number
of reasons, so no whole reveals a suppressed one.
"""

import datetime
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from analytics.dashboard.overview import Overview
from analytics.dashboard.queries import SPLITS
from analytics.dashboard.types import CONTACTS, OUTCOMES, Complement, Part, People, Point, Ranked, Spread, Totals
from analytics.dashboard.visibility import View

Key = TypeVar("Key", bound=Hashable)
#: Who is behind each side of a part. An empty side is left out: it is no group.
Sides = Mapping[Any, People]


def suppressed_cells(groups: Mapping[Key, Sides], *, least: int, suppressed: Collection[Key] = ()) -> set[Key]:
    """Return the cells to hide: primary and complementary suppression.

    Hidden are cells with a side of fewer than `least` and those that are `suppressed` anyway; then the next smallest
    until each side has `least` or nobody behind what is hidden together. Leave empty cells out: they are no groups.
    Among cells of one size the key decides, so that a second call hides the same.
    """
    ordered = sorted(groups, key=lambda key: (sum(side.at_least for side in groups[key].values()), repr(key)))
    found = {key for key in ordered if key in suppressed or is_small(groups[key], least=least)}
    together = added(groups[key] for key in found)
    while found and (lacking := {name for name, people in together.items() if people.at_least < least}):
        more = next((key for key in ordered if key not in found and not lacking.isdisjoint(groups[key])), None)
        if more is None:
            break
        found.add(more)
        together = added((together, groups[more]))
    return found


def is_small(sides: Sides, *, least: int) -> bool:
    return any(people.at_least < least for people in sides.values())


def added(groups: Iterable[Sides]) -> dict[Any, People]:
    """Add cells side by side."""
    found: dict[Any, People] = {}
    for sides in groups:
        for name, people in sides.items():
            found[name] = found.get(name, People()) + people
    return found


Place = TypeVar("Place", bound=Hashable)
#: Assistant, site and language, as ids and a code; "" is nobody's.
Cell = tuple[str, str, str]
Site = tuple[str, str]
#: Stands for all suppressed languages.
OTHERS = "others"


@dataclass(frozen=True, slots=True)
class Views:
    """The publishable views; `by_language` holds assistants and sites that are publishable language by language."""

    cells: frozenset[Cell]
    languages: frozenset[str]
    assistants: frozenset[str]
    sites: frozenset[Site]
    assistants_by_language: frozenset[str]
    sites_by_language: frozenset[Site]

    def publishes(self, *, assistant: str | None = None, site: str | None = None, language: str | None = None) -> bool:
        """Return whether a view is publishable; None chooses all.

        A view of nobody, or of a language that nobody speaks, is.
        """
        sites = {(own, at) for own, at, _spoken in self.cells if assistant in (None, own) and site in (None, at)}
        if not sites or language not in {None, *(spoken for _own, _at, spoken in self.cells)}:
            return True
        if language is not None and language not in self.languages:
            return False
        if site is not None:
            return sites <= (self.sites if language is None else self.sites_by_language)
        if assistant is not None:
            return assistant in (self.assistants if language is None else self.assistants_by_language)
        return True


def publishable_views(cells: Mapping[Cell, People], *, least: int) -> Views:
    """Return the publishable views.

    `cells` are all that the reader may choose from, whatever they chose, without empty ones.
    """
    spoken = added({language: people} for (_own, _at, language), people in cells.items())
    suppressed = suppressed_cells({language: {"": people} for language, people in spoken.items()}, least=least)
    assistants: dict[str, Sides] = {}
    sites: dict[str, dict[Site, Sides]] = {}
    for (own, at, language), people in cells.items():
        side = {OTHERS if language in suppressed else language: people}
        assistants[own] = added([assistants.get(own, {}), side])
        of_own = sites.setdefault(own, {})
        of_own[own, at] = added([of_own.get((own, at), {}), side])
    published, by_language = _publishable_parts(assistants, least)
    published_sites = {own: _publishable_parts(sites[own], least) for own in published}
    return Views(
        cells=frozenset(cells),
        languages=frozenset(str(language) for language in spoken if language not in suppressed),
        assistants=published,
        sites=frozenset().union(*(at for at, _by_language in published_sites.values())),
        assistants_by_language=by_language,
        sites_by_language=frozenset().union(*(published_sites[own][1] for own in by_language)),
    )


def _publishable_parts(places: Mapping[Place, Sides], least: int) -> tuple[frozenset[Place], frozenset[Place]]:
    """Return the publishable parts of a publishable whole, and those that are publishable language by language."""
    wholes: dict[Place, Sides] = {place: {"": sum(sides.values(), People())} for place, sides in places.items()}
    suppressed = suppressed_cells(wholes, least=least)
    closed = suppressed_cells(places, least=least, suppressed=suppressed)
    return frozenset(places.keys() - suppressed), frozenset(places.keys() - closed)


#: Those that are hidden together. What became of conversations adds up to all of them, so that one that is hidden
#: alone could be told from the others.
OPINIONS = {
    "thumbs_up": ("thumbs_up",),
    "thumbs_down": ("thumbs_down",),
    "ratings": ("ratings", "stars"),
    "outcomes": OUTCOMES,
    **{name: (name,) for name in CONTACTS},
}
#: By what they are counted.
COUNTED = {**OPINIONS, "ratings": ("ratings",)}
#: The side of a part that is in the view; the others are the numbers of wider views.
OWN = "own"


def is_publishable(totals: Totals, views: Views, view: View, *, least: int) -> bool:
    """Return whether a view is publishable. An empty one is, unless that reveals a small group."""
    if not totals.is_empty and totals.people.at_least < least:
        return False
    return views.publishes(**_chosen(view))


def without_small_groups(found: Overview, *, least: int) -> Overview | None:
    """Suppress figures with fewer than `least` people.

    Return None if the whole is about fewer, or is almost the whole of a wider view.
    """
    views = publishable_views(found.spread.cells, least=least)
    if not is_publishable(found.now, views, found.view, least=least):
        return None
    before, spread_before = found.before, found.spread_before
    if before and spread_before:
        views_before = publishable_views(spread_before.cells, least=least)
        if is_publishable(before, views_before, found.view, least=least):
            spread_before = _spread(spread_before, views_before, found.view, least)
        else:
            before = spread_before = None
    return replace(
        found,
        now=_opinions(found.now, least),
        points=_points(found.points, least),
        before=before and _opinions(before, least),
        spread=_spread(found.spread, views, found.view, least),
        spread_before=spread_before,
        faqs=rank_without_small_groups(found.faqs, least),
        documents=rank_without_small_groups(found.documents, least),
        topics=rank_without_small_groups(found.topics, least),
        gaps=[gap for gap in found.gaps if gap.visitors >= least],
    )


def _chosen(view: View) -> dict[str, str | None]:
    return {
        "assistant": None if view.assistant is None else str(view.assistant),
        "site": None if view.site is None else str(view.site),
        "language": view.language or None,
    }


def _sides(own: People, complement: Complement) -> Sides:
    return {OWN: own, **complement}


def _opinions(totals: Totals, least: int) -> Totals:
    """Suppress opinions of few people."""
    few = (name for name in OPINIONS if is_small(_given(totals, name), least=least))
    return _without(totals, set(few))


def _without(totals: Totals, opinions: Collection[str]) -> Totals:
    nothing: dict[str, Any] = dict.fromkeys((each for name in opinions for each in OPINIONS[name]), None)
    return replace(totals, **nothing)


def _given(totals: Totals, opinion: str) -> Sides:
    """Return an upper bound of the people behind an opinion, in the view and outside it."""
    sides: dict[Hashable, Totals] = dict([(OWN, totals), *totals.complement.items()])
    if not any(getattr(totals, name) for name in COUNTED[opinion]):
        return {}
    counts = {(side, name): getattr(each, name) for side, each in sides.items() for name in COUNTED[opinion]}
    return {side: People(count) for side, count in counts.items() if count}


def _points(points: Sequence[Point], least: int) -> list[Point]:
    """Suppress days, and the opinions of days. A suppressed day shows no opinions either."""
    asked = {point.start: point.totals for point in points if point.totals and not point.totals.is_empty}
    groups = {
        start: _sides(totals.people, {wider: each.people for wider, each in totals.complement.items()})
        for start, totals in asked.items()
    }
    suppressed = suppressed_cells(groups, least=least)
    without: dict[datetime.date, set[str]] = {start: set() for start in asked}
    for name in OPINIONS:
        given = {start: sides for start, totals in asked.items() if (sides := _given(totals, name))}
        for start in suppressed_cells(given, least=least, suppressed=suppressed):
            without[start].add(name)
    return [_point(point, suppressed, without.get(point.start, ())) for point in points]


def _point(point: Point, suppressed: Collection[datetime.date], without: Collection[str]) -> Point:
    return replace(
        point, totals=None if point.start in suppressed or point.totals is None else _without(point.totals, without)
    )


def _spread(spread: Spread, views: Views, view: View, least: int) -> Spread:
    return replace(
        spread,
        hours=_hours(spread, least),
        reasons={
            reason: _count(
                count, People(spread.newcomers_by_reason[reason]), spread.complement_by_reason[reason], least
            )
            for reason, count in spread.reasons.items()
        },
        parts={name: _parts(name, spread.parts[name], views, view) for name in SPLITS},
    )


def _hours(spread: Spread, least: int) -> list[int | None]:
    groups = {
        hour: _sides(People(spread.newcomers_by_hour[hour]), spread.complement_by_hour[hour])
        for hour, count in enumerate(spread.hours)
        if count
    }
    suppressed = suppressed_cells(groups, least=least)
    return [None if hour in suppressed else count for hour, count in enumerate(spread.hours)]


def _parts(name: str, parts: Mapping[str, Part], views: Views, view: View) -> dict[str, Part]:
    """Return the parts that are publishable as views."""
    return {key: part for key, part in parts.items() if views.publishes(**{**_chosen(view), name: key})}


def rank_without_small_groups(rows: Sequence[Ranked], least: int) -> list[Ranked]:
    """Leave out rows of few people, and suppress their thumbs of few."""
    return [_ranked(row, least) for row in rows if not is_small(_sides(row.people, row.complement), least=least)]


def _ranked(row: Ranked, least: int) -> Ranked:
    return replace(
        row,
        before=_count(row.before, row.people_before, row.complement_before, least),
        thumbs_up=_count(row.thumbs_up, People(row.newcomers_up), row.complement_up, least),
        thumbs_down=_count(row.thumbs_down, People(row.newcomers_down), row.complement_down, least),
    )


def _count(count: int | None, people: People, complement: Complement, least: int) -> int | None:
    """Suppress a count of few people; a count of 0 is about nobody."""
    return None if count and is_small(_sides(people, complement), least=least) else count
