"""A fetched HTML page as clean Markdown, with its metadata. Knows no Django models.

The steps: `convert` (bytes into text, then each of the others), `dom` (text into elements, with their links),
`metadata` (title, language, Open Graph …), `main_content` (opens accordions and tabs, drops boilerplate), `markdown`
with `tables`, `pictures` (those of a page with few words).

Our own rules find the content and our own walk over lxml's tree writes it, because that measured best on 229 pages of
nine documentation packages (`benchmarks.fidelity_html`): at least 99 % of the words kept on each. trafilatura keeps 68
to 99 % and loses some of the closed accordions and tabs of our own test pages. markdownify over the whole page keeps
the navigation too and recurses, so that a deeply nested page ends in a RecursionError. Both were slower.
"""

from knowledge.ingest.html.convert import read_html
from knowledge.ingest.html.types import MAX_BYTES, HtmlPage, Link, UnreadablePage

__all__ = ["MAX_BYTES", "HtmlPage", "Link", "UnreadablePage", "read_html"]
