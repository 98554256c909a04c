"""Deduplication: each text is handed over once, under the address that its site prefers; pure.

A page that names another as its canonical one, or that is like one known from before, waits until it is clear whether
the other is there. So the outcome depends neither on the order of visits nor on canonical addresses that lead nowhere
or round in a circle.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from knowledge.ingest.crawler.frontier import Visit
from knowledge.ingest.crawler.messages import KnownPage, Page, Skipped
from knowledge.ingest.formats.types import Said
from knowledge.ingest.formats.types import gettext_noop as _

CANONICAL = _("its canonical address is {address}")
LIKE = _("it has the same text as {address}")


@dataclass(slots=True)
class Gathering:
    known: Mapping[str, KnownPage]
    #: Pages that are there: handed over, or as they were.
    present: set[str] = field(default_factory=set)
    #: Pages whose visit is over, whatever the result.
    concluded: set[str] = field(default_factory=set)
    _by_likeness: dict[str, str] = field(default_factory=dict)
    _before: dict[str, str] = field(default_factory=dict)
    _moved: dict[str, str] = field(default_factory=dict)
    _waiting: list[tuple[Visit, Page, str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._before = {page.likeness: url for url, page in self.known.items() if page.likeness}

    def read(self, visit: Visit, page: Page, canonical: str) -> Page | Skipped | None:
        """Return the page if it is to be handed over, why it is skipped, or None while it waits."""
        self.concluded.add(page.url)
        if canonical and canonical != page.url:
            self._waiting.append((visit, page, canonical, CANONICAL))
            return None
        before = self._before.get(page.likeness, page.url)
        if before != page.url and before not in self.concluded:
            self._waiting.append((visit, page, before, LIKE))
            return None
        return self._once(page)

    def stays(self, url: str) -> None:
        """Record a page that exists without being handed over: unchanged, or not readable this time."""
        self.concluded.add(url)
        self.present.add(url)
        if url in self.known:
            self._by_likeness.setdefault(self.known[url].likeness, url)

    def moved(self, url: str, to: str) -> None:
        self.concluded.add(url)
        self._moved[url] = to

    def settle(self) -> Iterator[tuple[Visit, Page | Skipped]]:
        """Decide about the pages that waited, once nothing else is to be visited."""
        waiting, self._waiting = sorted(self._waiting, key=lambda waits: waits[1].url), []
        for visit, page, other, reason in waiting:
            there = self._where(other)
            is_it = there in self.present if reason == CANONICAL else self._by_likeness.get(page.likeness) == there
            if is_it and there != page.url:
                yield visit, Skipped(page.url, Said(reason, {"address": there}))
            else:
                yield visit, self._once(page)

    def _once(self, page: Page) -> Page | Skipped:
        other = self._by_likeness.setdefault(page.likeness, page.url)
        if other != page.url:
            return Skipped(page.url, Said(LIKE, {"address": other}))
        self.present.add(page.url)
        return page

    def _where(self, url: str) -> str:
        passed: set[str] = set()
        while url in self._moved and url not in passed:
            passed.add(url)
            url = self._moved[url]
        return url
