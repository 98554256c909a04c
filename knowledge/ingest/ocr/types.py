"""What reading pictures takes and gives."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from knowledge.ingest.formats.types import Said


class ReadLine(NamedTuple):
    """Words that stand together on one line, and their place in shares of the page's width and height.

    The page counts as set straight; `top` and `bottom` count down from its upper edge.
    """

    text: str
    x0: float
    top: float
    x1: float
    bottom: float


@dataclass(frozen=True, slots=True)
class PageRead:
    """A page's lines, in no order, or why they could not be read."""

    page: int
    lines: Sequence[ReadLine] = ()
    problem: Said | None = None


@dataclass(frozen=True, slots=True)
class OcrLimits:
    """Limits of reading pictures; beyond them it is a mistake or an attack."""

    #: Of addresses: a page takes 1.5 GB of them, the largest one 2 GB.
    memory_bytes: int = 3_000_000_000
    #: Of one core: a page of small print takes 10, and is read three times if it lies on its side.
    page_cpu_seconds: int = 180
    #: By the clock, also on a machine that is busy with answers, which come first.
    page_seconds: int = 450
    #: To load the libraries and the models.
    start_seconds: int = 120
