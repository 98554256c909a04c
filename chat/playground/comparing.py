"""Two rankings of the same question side by side; pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Direction(StrEnum):
    """Where a passage stands, seen from the other ranking."""

    UP = "up"
    DOWN = "down"
    SAME = "same"
    ONLY_HERE = "only-here"


@dataclass(frozen=True, slots=True)
class Move:
    """`places` is how far up or down it is from its rank in the other ranking."""

    direction: Direction
    places: int = 0


def move_of(passage_id: int, rank: int, others: Mapping[int, int]) -> Move:
    """`others` are the other ranking's ranks by passage, all of them, not only those that are shown."""
    other = others.get(passage_id)
    if other is None:
        return Move(Direction.ONLY_HERE)
    if rank == other:
        return Move(Direction.SAME)
    return Move(Direction.UP if rank < other else Direction.DOWN, abs(other - rank))
