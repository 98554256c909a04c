"""Pictures that are what a page says: the large ones of a page with few words, and links to picture files."""

import re
from collections.abc import Sequence
from urllib.parse import urlsplit

from knowledge.ingest.html.dom import WEB, Element, absolute, attribute, elements, holds, leads_to_picture

#: With more letters a page says itself what it is about, and a picture beside them illustrates it.
MOST_LETTERS = 250
#: A page that shows more pictures is a gallery.
MOST_PICTURES = 3
#: A picture of text is at least so wide and high, in pixels, where the page says its size.
SIDES = (("width", 300), ("height", 200))
#: Drawings and animations, which are not read.
UNREAD = re.compile(r"\.(?:gif|svg)$", re.IGNORECASE)


def telling_pictures(page: Element, contents: Sequence[Element], markdown: str, base: str) -> tuple[str, ...]:
    """List the addresses of the large pictures in the main content of a page with few words."""
    if sum(map(str.isalpha, markdown)) > MOST_LETTERS:
        return ()
    main = next((found for found in elements(page, "main") if holds(found, "img")), None)
    found = dict.fromkeys(
        address
        for content in ((main,) if main is not None else contents)
        for image in elements(content, "img")
        if _is_large(image) and (address := _address(image, base)) and not UNREAD.search(urlsplit(address).path)
    )
    return tuple(found) if len(found) <= MOST_PICTURES else ()


def _address(image: Element, base: str) -> str:
    """Return the address of a picture: of the larger one that it leads to, or that a script would load later."""
    for link in image.iterancestors("a"):
        larger = absolute(attribute(link, "href"), base, WEB)
        if leads_to_picture(larger):
            return larger
    sources = (absolute(attribute(image, name), base, WEB) for name in ("src", "data-src") if image.get(name))
    return next(filter(None, sources), "")


def _is_large(image: Element) -> bool:
    sides = ((attribute(image, name).strip().removesuffix("px"), least) for name, least in SIDES)
    return not any(side.isdecimal() and int(side) < least for side, least in sides)
