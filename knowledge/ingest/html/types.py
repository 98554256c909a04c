"""The values of reading a page, and its one error."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from knowledge.ingest.formats.types import Said
from knowledge.ingest.formats.types import gettext_noop as _

MAX_BYTES = 20 * 1024 * 1024


class UnreadablePage(ValueError):
    """A page that no text can be read from; the message says why."""

    #: What it shows instead: addresses of pictures.
    pictures: tuple[str, ...] = ()

    def __init__(self, template: str, **values: str | int) -> None:
        self.said = Said(template, values)
        super().__init__(str(self.said))


class NoPage(UnreadablePage):
    """An answer that is no page, though its status says so: an error, a login, an empty shell."""

    #: Whether the page that was there before is gone, and not only away for now.
    is_gone = False


class MissingPage(NoPage):
    is_gone = True


class EmptyShell(NoPage):
    """A page whose text comes from its scripts alone."""


class MovedPage(NoPage):
    """A page that leads on by itself."""

    def __init__(self, address: str) -> None:
        self.address = address
        super().__init__(_("it leads to {address}"), address=address[:500])


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
    #: Addresses of the pictures that it shows instead of many words.
    pictures: tuple[str, ...] = ()
