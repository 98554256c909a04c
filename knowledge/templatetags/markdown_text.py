"""Template filters: Markdown as plain text, for excerpts, and the address of a passage on its document's page."""

from urllib.parse import quote

from django import template

from knowledge.chunking.plain_text import make_plain

#: Words of a passage by which a browser finds it.
NAMING_WORDS = 6

register = template.Library()
register.filter("plain_text", make_plain)


@register.filter
def passage_anchor(text: str) -> str:
    """Return the part of an address that leads to this passage on its document's page, beside the editor."""
    words = " ".join(make_plain(text or "").split()[:NAMING_WORDS])
    return f"#passages:~:text={quote(words, safe='').replace('-', '%2D')}" if words else "#passages"
