"""Which parts of a whole are not told, so that the whole less what is told is no small group either; pure.

Complementary suppression (Willenborg and de Waal, Elements of Statistical Disclosure Control, 2001), of parts that have
several sides: what is in a part, and what is beside it and is had by subtracting.
"""

from collections.abc import Collection, Hashable, Iterable, Mapping
from typing import Any, TypeVar

from analytics.dashboard.values import People

Key = TypeVar("Key", bound=Hashable)
#: Who is behind each side of a part. An empty side is left out: it is no group.
Sides = Mapping[Any, People]


def hidden(groups: Mapping[Key, Sides], *, least: int, gone: Collection[Key] = ()) -> set[Key]:
    """Those with a side of fewer than `least`, and those that are `gone` anyway; then the next smallest until each side
    has `least` behind what is hidden together, or nobody. Empty parts are to be left out: they are no groups.

    Among parts of one size the key decides: asked twice, the same are hidden.
    """
    ordered = sorted(groups, key=lambda key: (sum(side.at_least for side in groups[key].values()), repr(key)))
    found = {key for key in ordered if key in gone or is_small(groups[key], least=least)}
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
    """Side by side."""
    found: dict[Any, People] = {}
    for sides in groups:
        for name, people in sides.items():
            found[name] = found.get(name, People()) + people
    return found
