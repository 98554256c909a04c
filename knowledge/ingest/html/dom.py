"""Parsing with lxml, and helpers that the other modules ask of an element."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urldefrag, urljoin, urlsplit

from lxml import etree

from knowledge.ingest.formats.types import gettext_noop as _
from knowledge.ingest.html.types import Link, UnreadablePage

#: lxml brings no types.
Element = Any
#: libxml2 reads no deeper than 2,048 and drops what lies below.
MAX_ELEMENTS = 300_000
CONTROLS = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f\ufffe\uffff]")
DECLARATION = re.compile(r"^\s*<\?xml[^>]*>")
SPACES = re.compile(r"[\s\xa0\u2028\u2029]+")
#: A soft hyphen or a zero-width character inside a word would hide the word from search.
INVISIBLE = re.compile("[\xad\u200b\u2060\ufeff]")
WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
#: Elements of a head.
OF_HEAD = frozenset({"title", "meta", "link", "script", "style", "base", "noscript", "template", "object"})
#: What stands in them does nothing where scripts run.
INERT = ("noscript", "template")
FORMATTING = {
    "b",
    "strong",
    "i",
    "em",
    "u",
    "s",
    "del",
    "ins",
    "strike",
    "mark",
    "small",
    "big",
    "sub",
    "sup",
    "font",
    "nobr",
}
INLINE = FORMATTING | {
    "a",
    "abbr",
    "acronym",
    "bdi",
    "bdo",
    "blink",
    "button",
    "cite",
    "code",
    "data",
    "dfn",
    "img",
    "kbd",
}


INLINE |= {"img", "label", "nobr", "q", "rp", "rt", "ruby", "samp", "span", "time", "tt", "var", "wbr"}


def parse_html(html: str) -> Element:
    """Parse HTML and return the root element; raises UnreadablePage."""
    parser = etree.HTMLParser(encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True)
    source = DECLARATION.sub("", CONTROLS.sub("", html)).encode("utf-8", "replace")
    try:
        root = etree.fromstring(source, parser)
    except etree.LxmlError:
        root = None
    if any("depth" in entry.message for entry in parser.error_log):
        raise UnreadablePage(_("it is nested too deeply"))
    if root is None:
        raise UnreadablePage(_("there is no text in it"))
    if (count := int(root.xpath("count(//*)"))) > MAX_ELEMENTS:
        raise UnreadablePage(_("it has {count:,} elements; {limit:,} are allowed"), count=count, limit=MAX_ELEMENTS)
    _begin_body(root)
    return root


def _begin_body(root: Element) -> None:
    """Move what is no part of a head into the body: a page may leave out `<body>`, which libxml2 does not notice."""
    head, body = root.find("head"), root.find("body")
    if head is None:
        return
    first = next((number for number, child in enumerate(head) if child.tag not in OF_HEAD), len(head))
    if first == len(head):
        return
    if body is None:
        body = etree.SubElement(root, "body")
    body[:0] = head[first:]


def elements(root: Element, *tags: str) -> Iterator[Element]:
    """Yield elements in the order of the page; all of them without `tags`."""
    return (element for element in root.iter(*tags) if isinstance(element.tag, str))


def effective_elements(root: Element, *tags: str) -> Iterator[Element]:
    """Yield elements that take effect in a browser: none within `<noscript>` or `<template>`."""
    return (element for element in elements(root, *tags) if not any(True for _in in element.iterancestors(*INERT)))


def holds(root: Element, *tags: str) -> bool:
    return any(element is not root for element in elements(root, *tags))


def clean(text: str | None) -> str:
    """Put text on one line, without invisible characters."""
    return SPACES.sub(" ", INVISIBLE.sub("", text or "")).strip()


def read_text(element: Element) -> str:
    parts: list[str] = []
    for event, inner in etree.iterwalk(element, events=("start", "end")):
        if inner.tag not in INLINE:
            parts.append(" ")
        text = inner.text if event == "start" else inner.tail if inner is not element else ""
        parts.append(text or "")
    return clean("".join(parts))


def hollow(element: Element) -> None:
    """Empty an element and make it meaningless; the text behind it stays."""
    element.clear(keep_tail=True)
    element.tag = "wbr"


def named(element: Element, names: re.Pattern[str]) -> bool:
    """Match a word of its classes or its id: `mainNav` is `main` and `nav`. A heading gives its section an id too."""
    text = attribute(element, "class")
    if not any(child.tag in HEADINGS for child in element[:1]):
        text = f"{text} {attribute(element, 'id')}"
    return any(names.fullmatch(word.lower()) for word in WORDS.findall(text))


def attribute(element: Element, name: str) -> str:
    return str(element.get(name) or "")


MAX_LENGTH = 2000
WEB = frozenset({"http", "https"})
SHOWN = WEB | {"mailto", "tel"}
PICTURE = re.compile(r"\.(?:jpe?g|png|webp|gif|svg|bmp|tiff?|avif)$", re.IGNORECASE)


def find_base(root: Element, url: str) -> str:
    """Find the address that relative ones are based on: the page's own or its `<base href>`."""
    base = next((attribute(each, "href") for each in effective_elements(root, "base") if each.get("href")), "")
    return absolute(base, url, WEB) or url


def absolute(href: str, base: str, schemes: frozenset[str] = SHOWN) -> str:
    """Make an address absolute; return "" if it has none of `schemes`: scripts, data and files are no links."""
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


def leads_to_picture(address: str) -> bool:
    """Return whether an address ends as a picture's does."""
    return bool(PICTURE.search(urlsplit(address).path))


def list_links(root: Element, base: str) -> tuple[str, ...]:
    """List every link of the whole page that a crawler may follow, once; a frame is one too.

    Links within `<noscript>` count: they are written for readers that run no scripts, as a crawler. A small picture
    that leads to the large one is no link to follow: it is one of a gallery.
    """
    found: dict[str, None] = {}
    for element in elements(root, "a", "area", "frame"):
        href = attribute(element, "src" if element.tag == "frame" else "href")
        if not href or "nofollow" in attribute(element, "rel").lower().split():
            continue
        url = absolute(href, base, WEB)
        if url and not (leads_to_picture(url) and holds(element, "img") and not read_text(element)):
            found[urldefrag(url).url] = None
    return tuple(found)


@dataclass(slots=True)
class References:
    """The links of the main content, numbered from 1 as they come; an address has one number."""

    _numbers: dict[str, int] = field(default_factory=dict)
    _links: list[Link] = field(default_factory=list)

    def number(self, url: str, element: Element) -> int:
        if url not in self._numbers:
            shown = read_text(element) or clean(" ".join(attribute(image, "alt") for image in elements(element, "img")))
            self._links.append(Link(shown, url))
            self._numbers[url] = len(self._links)
        return self._numbers[url]

    def links(self) -> tuple[Link, ...]:
        return tuple(self._links)
