"""The pages that were read, kept packed: unpacked, those of a long file take ten times the memory; pure."""

import pickle
import zlib
from bisect import bisect_right
from collections.abc import Callable, Container, Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import accumulate, chain, count
from typing import TypeVar, overload

from knowledge.ingest.pdf.types import Element, Line, Page

E = TypeVar("E", bound=Element)


class Pages:
    """Each page is unpacked when a step comes to it, and forgotten after; what a step changes is packed anew."""

    def __init__(self) -> None:
        self._packed: list[bytes] = []

    def __len__(self) -> int:
        return len(self._packed)

    def __iter__(self) -> Iterator[Page]:
        return map(_unpacked, self._packed)

    def __getitem__(self, index: int) -> Page:
        return _unpacked(self._packed[index])

    def append(self, page: Page) -> None:
        self._packed.append(_packed(page))

    def elements(self) -> "Flow[Element]":
        return Flow(self, lambda page: page.elements)

    def lines(self) -> "Flow[Line]":
        return Flow(self, lambda page: page.lines)

    def rewrite(self, change: Callable[[Page], list[Element]]) -> None:
        """Give every page the elements that `change` makes of it."""
        for index, page in enumerate(self):
            page.elements = change(page)
            self._packed[index] = _packed(page)

    def without_lines(self, gone: Container[int]) -> None:
        """Remove lines by their numbers among all lines of the file, from 0."""
        number = count()
        self.rewrite(
            lambda page: [
                element for element in page.elements if not isinstance(element, Line) or next(number) not in gone
            ]
        )


class Flow(Sequence[E]):
    """What stands on all pages, one after the other; they must not change while it is in use."""

    def __init__(self, pages: Pages, of: Callable[[Page], Sequence[E]]) -> None:
        self._pages, self._of = pages, of
        # Steps go from one element to its neighbours, which may stand on the next page.
        self._on = lru_cache(maxsize=2)(lambda number: of(pages[number]))

    @cached_property
    def _starts(self) -> list[int]:
        return list(accumulate((len(self._of(page)) for page in self._pages), initial=0))

    def __len__(self) -> int:
        return self._starts[-1]

    def __iter__(self) -> Iterator[E]:
        return chain.from_iterable(map(self._of, self._pages))

    @overload
    def __getitem__(self, index: int) -> E: ...
    @overload
    def __getitem__(self, index: slice) -> list[E]: ...
    def __getitem__(self, index: int | slice) -> E | list[E]:
        if isinstance(index, slice):
            return [self[each] for each in range(*index.indices(len(self)))]
        if not 0 <= index < len(self):
            raise IndexError(index)
        number = bisect_right(self._starts, index) - 1
        return self._on(number)[index - self._starts[number]]

    def on_page(self, number: int) -> range:
        """Return the indexes of a page's elements; pages count from 1."""
        return range(*self._starts[number - 1 : number + 1]) if number < len(self._starts) else range(0)


def _packed(page: Page) -> bytes:
    return zlib.compress(pickle.dumps(page, pickle.HIGHEST_PROTOCOL))


def _unpacked(packed: bytes) -> Page:
    page: Page = pickle.loads(zlib.decompress(packed))  # noqa: S301 - packed by this process
    return page
