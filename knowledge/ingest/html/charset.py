"""Bytes into text: the byte order mark wins, then what the bytes are; what header and page say is believed last."""

import codecs
import re

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
