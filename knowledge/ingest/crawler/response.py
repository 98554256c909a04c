"""Reading of a response: its headers, and its body within a time limit, since it may exhaust its reader."""

import re
import signal
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from itertools import islice
from time import time
from typing import Any
from urllib.parse import unquote, urlsplit

from lxml.etree import XMLSyntaxError
from scrapy.utils._compression import _DecompressionMaxSizeExceeded
from scrapy.utils.gz import gunzip
from scrapy.utils.sitemap import Sitemap

from knowledge.ingest.crawler.frontier import Scope, normalised
from knowledge.ingest.crawler.messages import Page, iso, likeness
from knowledge.ingest.formats.types import gettext_noop as _
from knowledge.ingest.html import UnreadablePage, read_html
from knowledge.ingest.html.convert import decode_html
from knowledge.ingest.html.dom import find_base, list_links, parse_html

SECONDS = 20
REDIRECTS = frozenset({301, 302, 303, 307, 308})
MOST_REDIRECTS = 8
#: Directives that no picture of a page is to be read.
NO_PICTURES = frozenset({"noindex", "none", "nofollow", "noimageindex"})
#: A busy server is asked twice more, unless it asks for a longer pause than this.
RETRIES, LONGEST_WAIT_S = 2, 60
#: The two forms of a file's name in Content-Disposition (RFC 6266); the first one counts.
EXTENDED_NAME = re.compile(r"\bfilename\*\s*=\s*(?P<charset>utf-8|iso-8859-1)'[^']*'(?P<name>[^;\s]+)", re.IGNORECASE)
PLAIN_NAME = re.compile(r"\bfilename\s*=\s*(?:\"(?P<quoted>[^\"]*)\"|(?P<name>[^;\s\"]+))", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Read:
    """A page as read; `canonical` is the page that it names as itself, "" if that is not on the site."""

    page: Page
    canonical: str
    is_index_allowed: bool
    #: What it shows instead of many words, and lies on another site.
    pictures_elsewhere: tuple[str, ...]


def read_page(url: str, response: Any, *, scope: Scope, is_rendered: bool = False) -> Read:
    """Read a page of the site; raises UnreadablePage."""
    headers = response.headers
    try:
        with _in_time():
            html = read_html(response.body, url=response.url, content_type=header(headers, "Content-Type"))
    except UnreadablePage as error:
        error.pictures = () if _header_directives(headers) & NO_PICTURES else links_on_site(error.pictures, scope)
        raise
    directives = html.robots | _header_directives(headers)
    pictures = () if directives & NO_PICTURES else html.pictures
    outgoing = () if directives & {"nofollow", "none"} else html.outgoing
    links = links_on_site((*outgoing, *pictures), scope)
    canonical = normalised(html.canonical)
    canonical = scope.page(canonical) if canonical and scope.is_on_site(canonical) else ""
    page = Page(
        url=url,
        # An empty shell stays the same whatever its scripts make of it, so it is never asked whether it changed.
        etag="" if is_rendered else header(headers, "ETag"),
        last_modified="" if is_rendered else header(headers, "Last-Modified"),
        is_rendered=is_rendered,
        likeness=likeness(html.title, html.markdown),
        links=links,
        title=html.title,
        language=html.language,
        markdown=html.markdown,
        references=tuple((link.text, link.url) for link in html.references),
        open_graph=html.open_graph,
        favicon=html.favicon,
        modified=iso(html.modified),
    )
    elsewhere = tuple(url for url in map(normalised, pictures) if url and not scope.is_on_site(url))
    is_index_allowed = not directives & {"noindex", "none"}
    return Read(page, canonical if scope.is_wanted(canonical) else "", is_index_allowed, elsewhere)


def links_only(response: Any, scope: Scope) -> tuple[str, ...]:
    """List the links of a page that has no text of its own."""
    with _in_time():
        root = parse_html(decode_html(response.body, header(response.headers, "Content-Type")))
        return links_on_site(list_links(root, find_base(root, response.url)), scope)


def links_on_site(links: Iterable[str], scope: Scope) -> tuple[str, ...]:
    found = dict.fromkeys(map(normalised, links))
    return tuple(link for link in found if link and scope.is_on_site(link))


def header(headers: Any, name: str) -> str:
    value: bytes = headers.get(name) or b""
    return value.decode("latin-1").replace("\x00", "").strip()


def read_name(headers: Any, url: str) -> str:
    """Return the name that the server gives a file, or the end of its address; it may be empty."""
    said = header(headers, "Content-Disposition")
    if found := EXTENDED_NAME.search(said):
        name = unquote(found["name"], encoding=found["charset"])
    else:
        found = PLAIN_NAME.search(said)
        name = (found["quoted"] or found["name"] or "") if found else ""
        with suppress(UnicodeError):  # many servers send the bytes of UTF-8
            name = name.encode("latin-1").decode()
    return name.replace("\\", "/").rpartition("/")[2].strip() or unquote(urlsplit(url).path.rpartition("/")[2])


def read_wait(headers: Any, tries: int) -> float | None:
    """Return the seconds until a busy server may be asked again; None if it should not be."""
    asked = header(headers, "Retry-After")
    try:
        wait = float(asked) if asked else 2.0 * 2**tries
    except ValueError:
        try:
            wait = parsedate_to_datetime(asked).timestamp() - time()
        except (TypeError, ValueError):
            wait = 2.0
    return max(0.0, wait) if tries < RETRIES and wait <= LONGEST_WAIT_S else None


def _header_directives(headers: Any) -> frozenset[str]:
    """Read X-Robots-Tag, except for lines that address another crawler."""
    lines = (value.decode("latin-1").lower() for value in headers.getlist("X-Robots-Tag"))
    return frozenset(word.strip() for line in lines for word in line.split(","))


@contextmanager
def _in_time() -> Iterator[None]:
    def stop(*_signal: object) -> None:
        raise UnreadablePage(_("reading it takes longer than {limit} seconds"), limit=SECONDS)

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        yield
    except RecursionError as error:
        raise UnreadablePage(_("it is nested too deeply")) from error
    except MemoryError as error:
        raise UnreadablePage(_("reading it needs more memory than a page should")) from error
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


#: Limits of the sitemap protocol.
MAX_BYTES, MAX_ADDRESSES = 50_000_000, 50_000
MAX_FILES = 200


@dataclass(frozen=True, slots=True)
class Listed:
    pages: tuple[str, ...] = ()
    sitemaps: tuple[str, ...] = ()


def read_sitemap(body: bytes) -> Listed:
    """Read a sitemap; raises ValueError if it is none, or too large."""
    try:
        if body[:2] == b"\x1f\x8b":
            body = gunzip(body, max_size=MAX_BYTES)
        if not body.lstrip().startswith(b"<"):  # the simplest form: one address a line
            lines = (line.strip() for line in body.decode("utf-8", "replace").splitlines())
            return Listed(pages=tuple(islice((line for line in lines if line.startswith("http")), MAX_ADDRESSES)))
        sitemap = Sitemap(body)
        found = tuple(entry["loc"] for entry in islice(sitemap, MAX_ADDRESSES))
    except _DecompressionMaxSizeExceeded as error:
        raise ValueError(f"unpacked it has more than {MAX_BYTES:,} bytes") from error
    except (OSError, EOFError, XMLSyntaxError, StopIteration) as error:
        raise ValueError("it is no sitemap") from error
    if sitemap.type == "sitemapindex":
        return Listed(sitemaps=found)
    return Listed(pages=found) if sitemap.type == "urlset" else Listed()
