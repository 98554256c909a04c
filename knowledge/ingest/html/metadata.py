"""Metadata of a page: title, language, Open Graph, canonical address, icon, date, robots."""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from urllib.parse import urldefrag

from knowledge.ingest.html.dom import (
    WEB,
    Element,
    absolute,
    attribute,
    clean,
    effective_elements,
    elements,
    read_text,
)

LANGUAGE = re.compile(r"\s*([a-z]{2,3})(?:[-_]|\s*$|\s*,)", re.IGNORECASE)
#: `<meta http-equiv="refresh" content="0; url=…">`
REFRESH = re.compile(
    r"\s*(?P<seconds>\d{1,4}(?:\.\d{1,3})?)\s*[;,]\s*url\s*=\s*[\"']?(?P<address>[^\"']{1,2000}?)[\"']?\s*",
    re.IGNORECASE,
)
#: After longer a page has been read.
SOON_S = 15
MODIFIED = ("article:modified_time", "og:updated_time", "dcterms.modified", "dc.date.modified", "last-modified")


class Head:
    """The meta elements by their names in lower case, the first of each; those in `<noscript>` are not its own."""

    def __init__(self, root: Element, base: str) -> None:
        self._root, self._base = root, base
        self._meta: dict[str, str] = {}
        for element in effective_elements(root, "meta"):
            name = attribute(element, "property") or attribute(element, "name") or attribute(element, "http-equiv")
            if name and (content := clean(element.get("content"))):
                self._meta.setdefault(name.strip().lower(), content)

    def title(self) -> str:
        """Find the title: a main heading that `<title>` repeats is the title without the site's name."""
        own = next((read_text(element) for element in elements(self._root, "title")), "")
        headings = [read_text(element) for element in elements(self._root, "h1")]
        return (
            next((heading for heading in headings if heading and heading in own), "")
            or own
            or self._meta.get("og:title", "")
            or next(filter(None, headings), "")
        )

    def language(self) -> str:
        said = (
            attribute(self._root, "lang"),
            attribute(self._root, "xml:lang"),
            attribute(self._root, "{http://www.w3.org/XML/1998/namespace}lang"),
            *(self._meta.get(name, "") for name in ("content-language", "language", "dc.language", "og:locale")),
        )
        return next((found[1].lower() for text in said if (found := LANGUAGE.match(text))), "")

    def open_graph(self) -> dict[str, str]:
        return {name[3:]: content for name, content in self._meta.items() if name.startswith("og:") and name[3:]}

    def canonical(self) -> str:
        return self._link("canonical")

    def favicon(self) -> str:
        return self._link("icon")

    def refresh(self, url: str) -> str:
        """Return the page that this one leads to by itself, at once or soon; "" for one that loads itself anew."""
        found = REFRESH.fullmatch(self._meta.get("refresh", ""))
        target = absolute(found["address"], self._base, WEB) if found and float(found["seconds"]) <= SOON_S else ""
        return target if target and urldefrag(target).url != urldefrag(url).url else ""

    def robots(self) -> frozenset[str]:
        said = set(re.split(r"[\s,]+", self._meta.get("robots", "").lower()))
        if "none" in said:
            said |= {"noindex", "nofollow"}
        return frozenset(said & {"noindex", "nofollow"})

    def modified(self) -> datetime | None:
        said = [self._meta[name] for name in MODIFIED if name in self._meta]
        said += [
            attribute(e, "datetime") or attribute(e, "content")
            for e in self._root.xpath("//*[@itemprop='dateModified']")
        ]
        return next((date for text in (*said, *self._structured_dates()) if (date := _date(text))), None)

    def _link(self, relation: str) -> str:
        for element in effective_elements(self._root, "link"):
            if relation in attribute(element, "rel").lower().split():
                return absolute(attribute(element, "href"), self._base, WEB) if element.get("href") else ""
        return ""

    def _structured_dates(self) -> Iterator[str]:
        for element in elements(self._root, "script"):
            if "ld+json" not in attribute(element, "type"):
                continue
            try:
                data = json.loads(element.text or "")
            except (ValueError, RecursionError):
                continue
            graph = data.get("@graph") if isinstance(data, dict) else data
            for item in [data, *(graph if isinstance(graph, list) else [])]:
                if isinstance(item, dict) and isinstance(item.get("dateModified"), str):
                    yield item["dateModified"]


def _date(text: str) -> datetime | None:
    """Parse a date in ISO 8601 or as in mails; without a zone it is UTC."""
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            date = read(text.strip())
        except (ValueError, IndexError, OverflowError):
            continue
        return date if date.tzinfo else date.replace(tzinfo=UTC)
    return None
