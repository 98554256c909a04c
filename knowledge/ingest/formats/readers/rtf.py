"""Rich Text Format, by striprtf, which keeps the words; headings, cells and links are marked in its source first."""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, BinaryIO

from knowledge.ingest.formats.types import BadFile, FileText, Format, Limits, Progress, Write
from knowledge.ingest.formats.types import gettext_noop as _

if TYPE_CHECKING:
    from knowledge.ingest.html.dom import Element

MOST_BYTES = 50_000_000
OUTLINE = re.compile(r"\\outlinelevel([0-8])(?!\d)\s?")
#: Of our own, in the private use area: no text has them.
HEADING, CELL, ROW = "\ue000", "\ue001", "\ue002"
CELL_END, ROW_END = re.compile(r"\\(?:nest)?cell(?![a-z])\s?"), re.compile(r"\\(?:nest)?row(?![a-z])\s?")
BULLETS = re.compile(r"[•·▪◦‣–-]\s+(?=\S)")
NUMBER = re.compile(r"(\d{1,3})[.)]\s+(?=\S)")
TITLE = re.compile(r"\{\\title\s+([^{}]*)\}")


def read(file: BinaryIO, *, limits: Limits, progress: Progress, write: Write) -> FileText:
    from striprtf.striprtf import rtf_to_text as to_text

    rtf_to_text: Callable[..., str] = to_text

    from knowledge.ingest.formats.markup import file_text

    source = file.read(MOST_BYTES + 1)
    if not source:
        raise BadFile(_("the file is empty"))
    if len(source) > MOST_BYTES:
        raise BadFile(_("it has more than {limit} MB: save it without its pictures"), limit=MOST_BYTES // 1_000_000)
    if not source.lstrip().startswith(b"{\\rtf"):
        raise BadFile(_("it is no {suffix} file, or its beginning is damaged"), suffix=".rtf")
    if not source.rstrip(b"\x00 \r\n\t").endswith(b"}"):
        raise BadFile(_("it is cut off or damaged: copy or download it again"))
    text = source.decode("latin-1")
    title = TITLE.search(text)
    return file_text(
        _elements(rtf_to_text(_marked(text), errors="replace")),
        write=write,
        stated_title=rtf_to_text(f"{{\\rtf1\\ansi {title[1]}}}", errors="replace") if title else "",
    )


def _marked(source: str) -> str:
    """Write our own marks as letters of the text, where RTF only has control words."""
    source = OUTLINE.sub(lambda found: f"{found[0].rstrip()} {_unicode(HEADING)}{int(found[1]) + 1}", source)
    source = CELL_END.sub(lambda _found: f" {_unicode(CELL)}\\tab ", source)
    return ROW_END.sub(lambda found: f" {_unicode(ROW)}{found[0]}", source)


def _unicode(character: str) -> str:
    return f"\\u{ord(character) - 65536}?"


def _elements(text: str) -> "Element":
    from knowledge.ingest.formats.markup import add, element

    root, table, listing, cells = element("body"), None, None, ""
    for line in text.split("\n"):
        if CELL in line or cells:
            cells += line
            if ROW not in line:
                cells += " "
                continue
            table = add(root, "table") if table is None else table
            row = add(table, "tr")
            for cell in cells.split(ROW)[0].split(CELL)[:-1]:
                add(row, "td", cell.strip())
            cells = ""
            continue
        line, table = line.strip(), None
        if not line:
            continue
        if heading := re.match(f"{HEADING}([1-9])", line):
            listing = None
            if words := re.sub(f"{HEADING}[1-9]", "", line).strip():
                add(root, f"h{min(int(heading[1]), 6)}", words)
        elif mark := BULLETS.match(line):
            listing = add(root, "ul") if listing is None or listing.tag != "ul" else listing
            add(listing, "li", line[mark.end() :])
        elif mark := NUMBER.match(line):
            listing = listing if listing is not None and listing.tag == "ol" else None
            if int(mark[1]) == 1:
                listing = add(root, "ol")
            if listing is not None and int(mark[1]) == len(listing) + 1:
                add(listing, "li", line[mark.end() :])
            else:  # it goes on from elsewhere: its number is text
                listing = None
                add(root, "p", line)
        else:
            listing = None
            add(root, "p", line)
    return root


FORMAT = Format(".rtf", "RTF", ("application/rtf", "text/rtf"), read, b"{\\rtf")
