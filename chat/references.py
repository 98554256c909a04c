"""Links that stand in a document itself, for a student who asks for one: a model never writes an address; pure."""

import re
from urllib.parse import urljoin, urlsplit

from chat.events import Link

ASKS_FOR_LINK = re.compile(
    r"\b(?:links?|urls?|hyperlinks?|web ?(?:site|page|address)e?s?|homepage|online form|application form|portal"
    r"|web(?:seiten?|adressen?)|internetseiten?|formulare?|antragsformulare?|online[- ]?antrag|downloads?)\b"
    r"|\bwhere (?:can|do) i (?:find|download|get) (?:the |a |more )?(?:form|page|information|document)"
    r"|\bwo (?:finde|bekomme|gibt) (?:ich|es) (?:das |den |die |ein |mehr )?"
    r"(?:formular|seite|antrag|informationen|dokument)",
    re.IGNORECASE,
)
REFERENCE = re.compile(r"(?<!!)\[(?P<label>[^\[\]\n]{1,200})\]\((?P<url>[^()\s<>]{1,1000})(?:[ \t]+\"[^\"\n]*\")?\)")
MOST = 5


def asks_for_link(question: str) -> bool:
    return bool(ASKS_FOR_LINK.search(question))


def references(markdown: str, base: str) -> tuple[Link, ...]:
    """A passage's own links to web pages, the first of each address; relative ones are seen from `base`."""
    found: dict[str, Link] = {}
    for reference in REFERENCE.finditer(markdown):
        try:
            url = urljoin(base, reference["url"])
            parts = urlsplit(url)
        except ValueError:  # not an address
            continue
        label = reference["label"].strip(" *_`")
        if parts.scheme in {"http", "https"} and parts.hostname and label:
            found.setdefault(url, Link(label, url))
    return tuple(found.values())[:MOST]
