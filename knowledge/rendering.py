"""Markdown of a document as HTML; nothing in it can run, load, or link anywhere but to the web."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from knowledge.chunking.numbered_links import list_addresses

#: What a link may lead to.
SCHEMES = ("https://", "http://", "mailto:")
#: A page marker as the renderer writes it, which escapes every HTML of the text.
MARKER = re.compile(r"&lt;!-- page (\d{1,5}) --&gt;")
#: A handbook has megabytes; a preview of all of it would not open on a phone.
MOST_CHARACTERS = 100_000


def is_safe_link(url: str) -> bool:
    return url.lower().startswith(SCHEMES)


class _Renderer(RendererHTML):
    """Writes no inline styles, which the content security policy forbids, and loads no pictures."""

    def image(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        alt = self.renderInlineAsText(tokens[idx].children, options, env)
        return format_html('<span class="rendered__picture">{}: {}</span>', _("Picture"), alt)


def _parser(*, breaks: bool) -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "breaks": breaks}, renderer_cls=_Renderer).enable(
        ["table", "strikethrough"]
    )
    parser.validateLink = is_safe_link  # type: ignore[method-assign]
    return parser


def list_references(metadata: Any) -> list[dict[str, str]]:
    """List the links of a page that its text names by number; addresses outside the web are left out."""
    links = metadata.get("references") if isinstance(metadata, dict) else None
    found = []
    for link, url in zip(links if isinstance(links, list) else (), list_addresses(links), strict=True):
        text = str(link.get("text", "")) if isinstance(link, dict) else str(link[0]) if url else ""
        found.append({"text": text, "url": url if is_safe_link(url) else ""})
    return found


def render_markdown(
    text: str, references: Iterable[dict[str, str]] = (), *, breaks: bool = False, most: int = MOST_CHARACTERS
) -> SafeString:
    """Render the text's beginning as HTML, at most `most` characters; `[text][n]` links to the n-th reference.

    With `breaks` the lines of a paragraph stay lines, as in the chat.
    """
    parser = _parser(breaks=breaks)
    known = {str(n): {"href": link["url"], "title": ""} for n, link in enumerate(references, start=1) if link["url"]}
    env: dict[str, Any] = {"references": known}
    tokens = parser.parse(text[:most], env)
    for token in tokens:
        if token.type in {"heading_open", "heading_close"}:  # they stand below the screen's own
            token.tag = f"h{min(6, int(token.tag[1]) + 2)}"
        token.attrs.pop("style", None)  # how a table's column is aligned
        for child in token.children or ():
            if child.type == "link_open":
                child.attrs |= {"target": "_blank", "rel": "noopener noreferrer"}
    html = parser.renderer.render(tokens, parser.options, env)
    pages = MARKER.sub(lambda marker: _page_mark(int(marker[1])), html)
    return mark_safe(pages)  # noqa: S308 (markdown-it has escaped all that the text says)


def _page_mark(page: int) -> SafeString:
    return format_html('<span class="rendered__page">{}</span>', _("page %(page)s") % {"page": page})
