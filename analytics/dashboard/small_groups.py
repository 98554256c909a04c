"""What of an overview may be told to who must not learn about few people; pure.

Where parts of a known whole are hidden, so many are hidden that the difference between the whole and what is shown is
no small group either (complementary suppression; Willenborg and de Waal, Elements of Statistical Disclosure Control,
2001). Visitors are counted once a day, so somebody who asks on several days counts on each of them.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from analytics.dashboard.figures import Part, Point, Ranked, Spread
from analytics.dashboard.overview import Missing, Overview

Key = TypeVar("Key", bound=Hashable)


def hidden(sizes: Mapping[Key, int], *, least: int) -> set[Key]:
    """Which parts of a whole are not told: those of fewer than `least`, and the next smallest until there are `least`
    behind what is hidden together. Empty parts are no groups."""
    ordered = sorted((key for key in sizes if sizes[key]), key=lambda key: sizes[key])
    found = {key for key in ordered if sizes[key] < least}
    for key in ordered:
        if not found or sum(sizes[each] for each in found) >= least:
            break
        found.add(key)
    return found


def is_small(size: int, *, least: int) -> bool:
    return 0 < size < least


def without_small_groups(found: Overview, *, least: int) -> Overview | None:
    """None where the whole of it is about fewer than `least`."""
    if is_small(found.now.visitors, least=least):
        return None
    before = None if found.before and is_small(found.before.visitors, least=least) else found.before
    faqs = [_ranked(each, least) for each in found.faqs if each.visitors >= least]
    documents = [_ranked(each, least) for each in found.documents if each.visitors >= least]
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
    sizes = {point.start: point.totals.visitors for point in points if point.totals}
    gone = hidden(sizes, least=least)
    return [replace(point, totals=None) if point.start in gone else point for point in points]


def _spread(spread: Spread, least: int) -> Spread:
    """Who gave a reason or asked in an hour is not counted; so many are behind a count at most."""
    hours, reasons = dict(enumerate(spread.hours)), dict(spread.reasons)
    return replace(
        spread,
        hours=list(_counts(hours, least).values()),
        reasons=_counts(reasons, least),
        parts={name: _parts(parts, least) for name, parts in spread.parts.items()},
    )


def _counts(counts: Mapping[Key, int | None], least: int) -> dict[Key, int | None]:
    gone = hidden({key: count or 0 for key, count in counts.items()}, least=least)
    return {key: None if key in gone else count for key, count in counts.items()}


def _parts(parts: Mapping[str, Part], least: int) -> dict[str, Part]:
    gone = hidden({key: part.visitors for key, part in parts.items()}, least=least)
    return {key: part for key, part in parts.items() if key not in gone}


def _ranked(row: Ranked, least: int) -> Ranked:
    return replace(
        row,
        before=None if is_small(row.visitors_before, least=least) else row.before,
        thumbs_up=None if is_small(row.thumbs_up or 0, least=least) else row.thumbs_up,
        thumbs_down=None if is_small(row.thumbs_down or 0, least=least) else row.thumbs_down,
    )
