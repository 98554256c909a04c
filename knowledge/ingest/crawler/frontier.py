"""What is visited next, and what no more: every page once, to a depth, and no endless series; pure."""

from dataclasses import dataclass

from knowledge.ingest.crawler.scope import Scope, shape

#: A chain of links between addresses of one shape that is longer is made by a program, such as a calendar.
LONGEST_SERIES = 10
#: Addresses that a crawl may come across for each page that it may hand over.
ADDRESSES_A_PAGE, ADDRESSES_MORE = 10, 1000


@dataclass(frozen=True, slots=True)
class Visit:
    """A page's turn: `url` is the name it goes by, `address` where it is asked for; `trail` led there by redirects."""

    url: str
    address: str
    depth: int = 0
    series: int = 0
    trail: tuple[str, ...] = ()
    tries: int = 0


class Frontier:
    """Remembers what was offered; says each page once."""

    def __init__(self, scope: Scope, *, max_depth: int, max_pages: int) -> None:
        self._scope, self._max_depth = scope, max_depth
        self._most = max_pages * ADDRESSES_A_PAGE + ADDRESSES_MORE
        self.admitted: set[str] = set()
        self._too_deep: dict[str, None] = {}
        self._endless: dict[str, None] = {}
        self.is_full = False

    @property
    def too_deep(self) -> list[str]:
        return [url for url in self._too_deep if url not in self.admitted]

    @property
    def endless(self) -> list[str]:
        return [url for url in self._endless if url not in self.admitted]

    def offer(self, address: str, *, depth: int = 0, parent: Visit | None = None) -> Visit | None:
        """The visit to a normalised address, or None: not the site's, unwanted, said before, or cut off."""
        if not address or not self._scope.is_on_site(address):
            return None
        url = self._scope.page(address)
        if url in self.admitted or not self._scope.is_wanted(url):
            return None
        series = parent.series + 1 if parent and shape(parent.url) == shape(url) else 0
        if depth > self._max_depth:
            self._too_deep[url] = None
            return None
        if series > LONGEST_SERIES:
            self._endless[url] = None
            return None
        if len(self.admitted) >= self._most:
            self.is_full = True
            return None
        self.admitted.add(url)
        return Visit(url, address, depth, series)
