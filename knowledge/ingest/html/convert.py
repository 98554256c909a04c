"""Reader of HTML: the bytes of a page become an `HtmlPage`."""

import re
from collections.abc import Sequence
from dataclasses import replace

from w3lib.encoding import html_body_declared_encoding, http_content_type_encoding, read_bom, to_unicode

from knowledge.ingest.formats.types import gettext_noop as _
from knowledge.ingest.html.dom import find_base, holds, list_links, parse_html
from knowledge.ingest.html.main_content import main_content
from knowledge.ingest.html.markdown import Writer
from knowledge.ingest.html.metadata import Head
from knowledge.ingest.html.no_page import check_page
from knowledge.ingest.html.pictures import telling_pictures
from knowledge.ingest.html.sign_in import find_sign_in
from knowledge.ingest.html.types import MAX_BYTES, EmptyShell, HtmlPage, MovedPage, UnreadablePage

#: Charsets that pages are in, as w3lib names them. Python knows more codecs, and some spell markup in other characters
#: (base64, unicode_escape). UTF-16 is recognised by its bytes: a page that names it in ASCII is not in it.
CHARSETS = re.compile(
    r"utf-8|iso8859-\d+|cp125\d|cp437|cp850|cp874|cp866|koi8-[ru]|mac-roman|mac-cyrillic"
    r"|gb18030|big5hkscs|euc_jp|cp932|cp949|iso2022_jp"
)


def decode_html(body: bytes, content_type: str = "") -> str:
    """Decode a page; `content_type` is the value of its header.

    w3lib's `html_to_unicode` believes the header, then the page. Both are often wrong, so valid UTF-8 is read as UTF-8
    whatever they say: no other text looks like it by chance.
    """
    encoding, mark = read_bom(body)
    if encoding and mark:
        return to_unicode(body[len(mark) :], encoding)
    if (wide := _wide(body)) is not None:
        return to_unicode(body, wide)
    named = (http_content_type_encoding(content_type), html_body_declared_encoding(body))
    declared = [name for name in named if name and CHARSETS.fullmatch(name)]
    if body.isascii():
        return to_unicode(body, "iso2022_jp" if "iso2022_jp" in declared else "ascii")
    text = to_unicode(body, "utf-8")
    broken = text.count("\ufffd")
    if not broken or ("utf-8" in declared and 20 * broken < _count_beyond_ascii(text)):  # a byte or two are damaged
        return text
    for name in declared:
        try:
            return body.decode(name)
        except UnicodeDecodeError:
            continue
    return to_unicode(body, "cp1252")


def _wide(body: bytes) -> str | None:
    """Recognise UTF-16 without its byte order mark: every other byte of the first tag is NUL."""
    start = body[:200]
    if start.count(0) * 3 < len(start):
        return None
    return "utf-16-le" if b"<\0" in start else "utf-16-be" if b"\0<" in start else None


def _count_beyond_ascii(text: str) -> int:
    return len(text) - len(text.encode("ascii", "ignore"))


def read_html(body: bytes, *, url: str, content_type: str = "") -> HtmlPage:
    """Read a page that was fetched from `url`; `content_type` is the value of its header.

    Raises UnreadablePage.
    """
    if len(body) > MAX_BYTES:
        raise UnreadablePage(_("it has {size:,} bytes; {limit:,} are allowed"), size=len(body), limit=MAX_BYTES)
    text = decode_html(body, content_type)
    if not text.strip("\x00 \t\r\n\f"):
        raise UnreadablePage(_("it is empty"))
    if _binary(text):
        raise UnreadablePage(_("it is not HTML but binary data"))
    root = parse_html(text)
    base = find_base(root, url)
    head, links = Head(root, base), list_links(root, base)
    if leads_to := head.refresh(url):
        raise MovedPage(leads_to)
    framed, sign_in = holds(root, "frameset"), find_sign_in(root)
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
    writer, contents = Writer(base), []
    for element in main_content(root, url, title):
        markdown = writer.write(element)
        contents.append(element)
    pictures = telling_pictures(root, contents, markdown, base)
    if not markdown and not sign_in.handover:  # its form sends itself, without a word
        empty = _empty(framed=framed, scripted=scripted, pictures=pictures)
        empty.pictures = pictures
        raise empty
    check_page(markdown, title=title, sign_in=sign_in, scripted=scripted)
    return replace(page, markdown=markdown, references=writer.references.links(), pictures=pictures)


def _empty(*, framed: bool, scripted: bool, pictures: Sequence[str]) -> UnreadablePage:
    if framed:
        return UnreadablePage(_("it is a frameset; the text is in its frames, which are pages of their own"))
    if scripted:
        return EmptyShell(_("there is no text in it without JavaScript"))
    if pictures:
        return UnreadablePage(_("it says nothing itself but shows a picture: {address}"), address=pictures[0][:500])
    return UnreadablePage(_("there is no text in it"))


def _binary(text: str) -> bool:
    start = text[:4096]
    odd = sum(
        1 for character in start if (character < " " and character not in "\t\r\n\f\x00") or character == "\ufffd"
    )
    return odd * 20 > len(start) or start.startswith(("%PDF-", "PK\x03\x04", "GIF8"))
