"""The way in: bytes of a page into `HtmlPage`."""

from dataclasses import replace

from knowledge.ingest.html.charset import decoded
from knowledge.ingest.html.head import Head
from knowledge.ingest.html.links import base_of, outgoing
from knowledge.ingest.html.main_content import main_content
from knowledge.ingest.html.markdown import Writer
from knowledge.ingest.html.tree import holds, parsed
from knowledge.ingest.html.values import MAX_BYTES, HtmlPage, UnreadablePage


def read_html(body: bytes, *, url: str, charset: str = "") -> HtmlPage:
    """`url` is where the page was fetched, `charset` what its Content-Type header says. Raises UnreadablePage."""
    if len(body) > MAX_BYTES:
        raise UnreadablePage(f"it has {len(body):,} bytes; {MAX_BYTES:,} are allowed")
    text = decoded(body, charset)
    if not text.strip("\x00 \t\r\n\f"):
        raise UnreadablePage("it is empty")
    if _binary(text):
        raise UnreadablePage("it is not HTML but binary data")
    root = parsed(text)
    base = base_of(root, url)
    head, links = Head(root, base), outgoing(root, base)
    framed = holds(root, "frameset")
    scripted = holds(root, "script")
    title = head.title()
    page = HtmlPage(
        title=title,
        language=head.language(),
        markdown="",
        references=(),
        outgoing=links,
        canonical=head.canonical(),
        open_graph=head.open_graph(),
        favicon=head.favicon(),
        modified=head.modified(),
        robots=head.robots(),
    )
    writer = Writer(base)
    for element in main_content(root, url, title):
        markdown = writer.write(element)
    if not markdown:
        if framed:
            raise UnreadablePage("it is a frameset; the text is in its frames, which are pages of their own")
        raise UnreadablePage("there is no text in it" + (" without JavaScript" if scripted else ""))
    return replace(page, markdown=markdown, references=writer.references.links())


def _binary(text: str) -> bool:
    start = text[:4096]
    odd = sum(
        1 for character in start if (character < " " and character not in "\t\r\n\f\x00") or character == "\ufffd"
    )
    return odd * 20 > len(start) or start.startswith(("%PDF-", "PK\x03\x04", "GIF8"))
