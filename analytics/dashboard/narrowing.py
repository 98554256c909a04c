"""Which views of the same days may be told beside each other: by assistant, by site, by language; pure.

Whoever may choose can subtract: all less German is what was asked in English, an assistant less one of its sites is the
others. So all that can be chosen is one table, and what is told of it is decided at once, whichever view is asked for:

- Assistants are parts of all, sites parts of their assistant, languages parts of all. Of each whole so many parts are
  hidden that the rest is no small group (`hiding`).
- A place is told by all its languages or by none, and so many places by none that in no language the rest is a small
  group.
"""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from analytics.dashboard.hiding import Sides, added, hidden
from analytics.dashboard.values import People

Place = TypeVar("Place", bound=Hashable)
#: Assistant, site and language, as ids and a code; "" is nobody's.
Cell = tuple[str, str, str]
Site = tuple[str, str]
#: Stands for all languages that are not told.
OTHERS = "others"


@dataclass(frozen=True, slots=True)
class Views:
    """What may be told; `by_language` holds assistants and sites that may be told language by language."""

    cells: frozenset[Cell]
    languages: frozenset[str]
    assistants: frozenset[str]
    sites: frozenset[Site]
    assistants_by_language: frozenset[str]
    sites_by_language: frozenset[Site]

    def tell(self, *, assistant: str | None = None, site: str | None = None, language: str | None = None) -> bool:
        """None is all of them. What holds nobody in any language, or a language that nobody speaks, may be told."""
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


def views_to_tell(cells: Mapping[Cell, People], *, least: int) -> Views:
    """`cells` are all that the reader may choose from, whatever they chose; empty ones are to be left out."""
    spoken = added({language: people} for (_own, _at, language), people in cells.items())
    gone = hidden({language: {"": people} for language, people in spoken.items()}, least=least)
    assistants: dict[str, Sides] = {}
    sites: dict[str, dict[Site, Sides]] = {}
    for (own, at, language), people in cells.items():
        side = {OTHERS if language in gone else language: people}
        assistants[own] = added([assistants.get(own, {}), side])
        of_own = sites.setdefault(own, {})
        of_own[own, at] = added([of_own.get((own, at), {}), side])
    told, told_by_language = _told(assistants, least)
    told_sites = {own: _told(sites[own], least) for own in told}
    return Views(
        cells=frozenset(cells),
        languages=frozenset(str(language) for language in spoken if language not in gone),
        assistants=told,
        sites=frozenset().union(*(at for at, _by_language in told_sites.values())),
        assistants_by_language=told_by_language,
        sites_by_language=frozenset().union(*(told_sites[own][1] for own in told_by_language)),
    )


def _told(places: Mapping[Place, Sides], least: int) -> tuple[frozenset[Place], frozenset[Place]]:
    """Of the parts of a whole that is told: which are, and which of them also language by language."""
    wholes: dict[Place, Sides] = {place: {"": sum(sides.values(), People())} for place, sides in places.items()}
    gone = hidden(wholes, least=least)
    closed = hidden(places, least=least, gone=gone)
    return frozenset(places.keys() - gone), frozenset(places.keys() - closed)
