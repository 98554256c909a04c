"""What two FAQs that ask the same are to each other; pure."""

from dataclasses import dataclass
from datetime import date
from enum import StrEnum


class Relation(StrEnum):
    SAME = "same"
    CONFLICT = "conflict"
    APART = "apart"


@dataclass(frozen=True, slots=True)
class Holding:
    """Which documents (ids) an FAQ leads to, and from which day to which (both included; None: no limit)."""

    documents: frozenset[int]
    valid_from: date | None
    valid_until: date | None


def relation(one: Holding, other: Holding) -> Relation:
    """Of two FAQs with one meaning: apart where they hold on different days; in conflict where they hold on the same
    days and lead to other documents, or where their days overlap without being the same; otherwise one is too many."""
    if not _overlap(one, other):
        return Relation.APART
    if (one.valid_from, one.valid_until) != (other.valid_from, other.valid_until):
        return Relation.CONFLICT
    if one.documents and other.documents and one.documents != other.documents:
        return Relation.CONFLICT
    return Relation.SAME


def _overlap(one: Holding, other: Holding) -> bool:
    begin = max(one.valid_from or date.min, other.valid_from or date.min)
    return begin <= min(one.valid_until or date.max, other.valid_until or date.max)
