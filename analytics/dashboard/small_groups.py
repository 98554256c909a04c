"""What of an overview may be told to who must not learn about few people; pure.

A group is told where at least so many different people are known to be in it (`values.People`): somebody who asks on
several days, in several languages or on several sites is no group. What sums up a group that is told is told too,
whatever it comes to. Where parts of a known whole are hidden, so many are hidden that the difference between the whole
and what is shown is no small group either (complementary suppression; Willenborg and de Waal, Elements of Statistical
Disclosure Control, 2001).

Questions by hour, and ratings by reason or by FAQ, are of groups of their own, of which newcomers alone are known:
somebody may ask five times in an hour. Each newcomer has one hour, so that hidden hours can be added up. A rating has
any number of reasons, so that no whole gives away a hidden one.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from analytics.dashboard.overview import Missing, Overview
from analytics.dashboard.values import Part, People, Point, Ranked, Spread, Totals

Key = TypeVar("Key", bound=Hashable)


def hidden(groups: Mapping[Key, People], *, least: int) -> set[Key]:
    """Which parts of a whole are not told: those of fewer than `least`, and the next smallest until there are `least`
    behind what is hidden together. Empty parts are to be left out: they are no groups."""
    ordered = sorted(groups, key=lambda key: groups[key].at_least)
    found = {key for key in ordered if groups[key].at_least < least}
    together = sum((groups[key] for key in found), People())
    for key in ordered[len(found) :]:
        if not found or together.at_least >= least:
            break
        found.add(key)
        together += groups[key]
    return found


def is_small(totals: Totals, *, least: int) -> bool:
    return not totals.is_empty and totals.people.at_least < least


def without_small_groups(found: Overview, *, least: int) -> Overview | None:
    """None where the whole of it is about fewer than `least`."""
    if is_small(found.now, least=least):
        return None
    before = None if found.before and is_small(found.before, least=least) else found.before
    faqs = [_ranked(each, least) for each in found.faqs if each.people.at_least >= least]
    documents = [_ranked(each, least) for each in found.documents if each.people.at_least >= least]
    gaps = [gap for gap in found.gaps if gap.visitors >= least]
    return replace(
        found,
        points=_points(found.points, least),
        before=before,
        spread=_spread(found.spread, least),
        spread_before=_spread(found.spread_before, least) if before and found.spread_before else None,
        faqs=faqs,
        documents=documents,
        gaps=gaps,
        missing=Missing(
            len(found.faqs) - len(faqs), len(found.documents) - len(documents), len(found.gaps) - len(gaps)
        ),
    )


def _points(points: Sequence[Point], least: int) -> list[Point]:
    groups = {point.start: point.totals.people for point in points if point.totals and not point.totals.is_empty}
    gone = hidden(groups, least=least)
    return [replace(point, totals=None) if point.start in gone else point for point in points]


def _spread(spread: Spread, least: int) -> Spread:
    return replace(
        spread,
        hours=_hours(spread, least),
        reasons={
            reason: _count(count, spread.newcomers_by_reason[reason], least) for reason, count in spread.reasons.items()
        },
        parts={name: _parts(parts, least) for name, parts in spread.parts.items()},
    )


def _hours(spread: Spread, least: int) -> list[int | None]:
    groups = {hour: People(spread.newcomers_by_hour[hour]) for hour, count in enumerate(spread.hours) if count}
    gone = hidden(groups, least=least)
    return [None if hour in gone else count for hour, count in enumerate(spread.hours)]


def _parts(parts: Mapping[str, Part], least: int) -> dict[str, Part]:
    gone = hidden({key: part.people for key, part in parts.items() if part.questions}, least=least)
    return {key: part for key, part in parts.items() if key not in gone}


def _ranked(row: Ranked, least: int) -> Ranked:
    return replace(
        row,
        before=_count(row.before, row.people_before.at_least, least),
        thumbs_up=_count(row.thumbs_up, row.newcomers_up, least),
        thumbs_down=_count(row.thumbs_down, row.newcomers_down, least),
    )


def _count(count: int | None, people: int, least: int) -> int | None:
    """A count of nothing is about nobody."""
    return None if count and people < least else count
