"""A university's site: every kind of page, file and trap that a crawler meets, and what is to become of each.

A part of it tells what it adds (`fill`), what the home page links to (`LINKS`), what becomes a document (`DOCUMENTS`),
and what the crawler leaves out, with its reason (`LEFT_OUT`).
"""

from tests.knowledge.site import Site, html, page
from tests.knowledge.university import addresses, files, no_pages, pages, pictures

PARTS = (pages, addresses, no_pages, files, pictures)
#: What a crawl of `university` is to go to: links away, and bytes of a page.
DEPTH, MAX_BYTES = 14, 1_000_000
LEFT_OUT = {path: reason for part in PARTS for path, reason in part.LEFT_OUT.items()}
#: Files that are fetched and cannot be imported, with what staff are told of each.
REFUSED = files.REFUSED | pictures.REFUSED
#: What staff are told of documents that were read.
REMARKS = files.REMARKS | pictures.REMARKS
#: Titles that tell documents apart.
TITLES = files.TITLES | {path: title for path, (_heading, title) in pages.NAMESAKES.items()}


def university(site: Site) -> None:
    """Add everything at once; `documents` says which pages must become documents."""
    links = [link for part in PARTS for link in part.LINKS]
    site.answers["/"] = page(html("University", links=(*links, *addresses.other_names(site))))
    for part in PARTS:
        part.fill(site)


def documents(site: Site) -> set[str]:
    """Return what is to become a document, files included."""
    return {site.url(path) for part in PARTS for path in ("/", *part.DOCUMENTS)}


def left_out() -> dict[str, str]:
    """Return what staff are told of all that becomes no document, by path."""
    gone = "a link leads there, but the server answers with status {}"
    return LEFT_OUT | REFUSED | {path: gone.format(status) for path, status in addresses.GONE.items()}
