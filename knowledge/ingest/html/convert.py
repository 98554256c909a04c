"""The way in: bytes of a page into `HtmlPage`."""

import codecs
import re
from dataclasses import replace

from knowledge.ingest.html.dom import base_of, holds, outgoing, parsed
from knowledge.ingest.html.main_content import main_content
from knowledge.ingest.html.markdown import Writer
from knowledge.ingest.html.metadata import Head
from knowledge.ingest.html.types import MAX_BYTES, HtmlPage, UnreadablePage

BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
META = re.compile(
    rb"""<meta[^>]{0,400}?charset\s*=\s*["']?\s*([\w:.-]{1,40})|<\?xml[^>]{0,200}?encoding=["']([\w.-]+)""", re.I
)
#: Python knows codecs that are no charsets (base64, rot13, …); pages are in these.
CHARSETS = re.compile(
    r"utf-8|utf-16(-[lb]e)?|iso8859-\d+|cp125\d|cp437|cp850|cp874|cp866|koi8-[ru]|mac-roman|mac-cyrillic"
    r"|gb2312|gbk|gb18030|big5|big5hkscs|euc_jp|euc_kr|shift_jis|cp932|cp949|iso2022_jp"
)
#: Browsers read these three as windows-1252 too.
WESTERN = {"iso8859-1", "ascii", "cp1252"}


def decoded(body: bytes, charset: str = "") -> str:
    """`charset` is the header's. Valid UTF-8 is UTF-8 whatever is said of it: no other text looks like it by chance."""
    for bom, name in BOMS:
        if body.startswith(bom):
            return body[len(bom) :].decode(name, "replace")
    if (wide := _wide(body)) is not None:
        return body.decode(wide, "replace")
    said = [name for name in (_known(charset), _known(_declared(body))) if name]
    if body.isascii():
        return body.decode("iso2022_jp" if "iso2022_jp" in said else "ascii", "replace")
    text = body.decode("utf-8", "replace")
    broken = text.count("\ufffd")
    if not broken or ("utf-8" in said and 20 * broken < _beyond_ascii(text)):  # a byte or two of them damaged
        return text
    for name in said:
        try:
            return body.decode("cp1252" if name in WESTERN else name)
        except UnicodeDecodeError:
            continue
    return body.decode("cp1252", "replace")


def _wide(body: bytes) -> str | None:
    """UTF-16 without its mark: every other byte of the first tag is NUL."""
    start = body[:200]
    if start.count(0) * 3 < len(start):
        return None
    return "utf-16-le" if b"<\0" in start else "utf-16-be" if b"\0<" in start else None


def _declared(body: bytes) -> str:
    found = META.search(body[:4096])
    return (found[1] or found[2]).decode("ascii", "replace") if found else ""


def _known(name: str) -> str:
    try:
        known = codecs.lookup(name.strip().strip("\"'")).name
    except (LookupError, ValueError):
        return ""
    if known in WESTERN:
        return "cp1252"
    # A page whose own bytes name UTF-16 cannot be in it.
    return known if CHARSETS.fullmatch(known) and not known.startswith("utf-16") else ""


def _beyond_ascii(text: str) -> int:
    return len(text) - len(text.encode("ascii", "ignore"))


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
