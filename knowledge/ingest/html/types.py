"""The values of reading a page, and its one error."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

MAX_BYTES = 20 * 1024 * 1024


class UnreadablePage(ValueError):
    """A page that no text can be read from; the message says why."""


@dataclass(frozen=True, slots=True)
class Link:
    """A reference of the main content: http, https, mailto or tel, absolute."""

    text: str
    url: str


@dataclass(frozen=True, slots=True)
class HtmlPage:
    """A page's main content and what its head says; a link in `markdown` reads `[text][n]`: `references[n - 1]`."""

    title: str
    language: str  # "de"; "" where the page does not say
    markdown: str
    references: tuple[Link, ...]
    outgoing: tuple[str, ...]  # of the whole page, for a crawler: no fragments, no rel=nofollow
    canonical: str
    open_graph: Mapping[str, str]  # without the prefix "og:"
    favicon: str
    modified: datetime | None  # aware
    robots: frozenset[str]  # "noindex", "nofollow"
