"""Addresses: made absolute, chosen by what may stand in a text, and gathered for a crawler."""

from dataclasses import dataclass, field
from urllib.parse import urldefrag, urljoin, urlsplit

from knowledge.ingest.html.tree import Element, attribute, clean, elements, text_of
from knowledge.ingest.html.values import Link

MAX_LENGTH = 2000
WEB = frozenset({"http", "https"})
SHOWN = WEB | {"mailto", "tel"}


def base_of(root: Element, url: str) -> str:
    """What relative addresses begin at: the page's own address or its `<base href>`."""
    base = next((attribute(element, "href") for element in elements(root, "base") if element.get("href")), "")
    return absolute(base, url, WEB) or url


def absolute(href: str, base: str, schemes: frozenset[str] = SHOWN) -> str:
    """ "" where it is none of `schemes`: scripts, data and files are no links."""
    href = "".join(href.split()) if href.strip()[:5].lower() == "http:" else href.strip()
    href = href.replace("\n", "").replace("\r", "").replace("\t", "")
    try:
        url = urljoin(base, href)
        parts = urlsplit(url)
    except ValueError:
        return ""
    if parts.scheme not in schemes or (parts.scheme in WEB and not parts.hostname) or len(url) > MAX_LENGTH:
        return ""
    if parts.scheme not in WEB and not parts.path:
        return ""
    return url.replace(" ", "%20").replace("<", "%3C").replace(">", "%3E")


def outgoing(root: Element, base: str) -> tuple[str, ...]:
    """Every link of the whole page that a crawler may follow, once; a frame is one too."""
    found: dict[str, None] = {}
    for element in elements(root, "a", "area", "frame"):
        href = attribute(element, "src" if element.tag == "frame" else "href")
        if not href or "nofollow" in attribute(element, "rel").lower().split():
            continue
        if url := absolute(href, base, WEB):
            found[urldefrag(url).url] = None
    return tuple(found)


@dataclass(slots=True)
class References:
    """The links of the main content, numbered from 1 as they come; an address has one number."""

    _numbers: dict[str, int] = field(default_factory=dict)
    _links: list[Link] = field(default_factory=list)

    def number(self, url: str, element: Element) -> int:
        if url not in self._numbers:
            shown = text_of(element) or clean(" ".join(attribute(image, "alt") for image in elements(element, "img")))
            self._links.append(Link(shown, url))
            self._numbers[url] = len(self._links)
        return self._numbers[url]

    def links(self) -> tuple[Link, ...]:
        return tuple(self._links)
