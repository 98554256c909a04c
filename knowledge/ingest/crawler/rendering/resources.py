"""Scripts and data of pages, loaded as pages are: by the same client, with the same rules about hosts, addresses and
robots.txt, in the turns of the site's host."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urldefrag, urljoin, urlsplit

from scrapy import Request

from knowledge.ingest.crawler.frontier import Scope, normalised
from knowledge.ingest.crawler.response import MOST_REDIRECTS, REDIRECTS, header

#: Of one resource, and of all that are kept for the next pages of a crawl.
MAX_BYTES, MAX_KEPT_BYTES = 10_000_000, 50_000_000
#: Sends a request through the crawler's own middlewares, and returns the response.
Download = Callable[[Request], Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class Resource:
    status: int
    content_type: str
    body: bytes


class Resources:
    """Loads each address once in a crawl."""

    def __init__(self, download: Download, scope: Scope, *, max_bytes: int) -> None:
        self._download, self._scope, self._max_bytes = download, scope, min(max_bytes, MAX_BYTES)
        self._kept: dict[tuple[str, str], Resource] = {}
        self._kept_bytes = 0

    async def load(self, address: str, *, accept: str) -> Resource | None:
        """Return what is there, or None: forbidden, refused, too large, or not reached."""
        key = (urldefrag(address).url, accept)
        if key in self._kept:
            return self._kept[key]
        found = await self._load(*key)
        if found and found.status == 200 and self._kept_bytes + len(found.body) <= MAX_KEPT_BYTES:
            self._kept[key] = found
            self._kept_bytes += len(found.body)
        return found

    async def _load(self, address: str, accept: str) -> Resource | None:
        for _hop in range(MOST_REDIRECTS + 1):
            if not self._scope.may_load(address):
                return None
            try:
                response = await self._download(self._request(address, accept))
            except Exception:  # Scrapy's and Twisted's errors have no common base; `robots` and `ssrf` are among them
                return None
            if response.status not in REDIRECTS or "Location" not in response.headers:
                return Resource(response.status, header(response.headers, "Content-Type"), response.body)
            address = urldefrag(urljoin(address, header(response.headers, "Location"))).url
        return None

    def _request(self, address: str, accept: str) -> Request:
        host = urlsplit(self._scope.page(normalised(address))).hostname or ""
        meta = {"handle_httpstatus_all": True, "download_slot": host, "download_maxsize": self._max_bytes}
        return Request(address, headers={"Accept": accept} if accept else {}, meta=meta)
