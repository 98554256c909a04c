"""Pictures of text (PNG): what OCR has read on one, laid out as the page of a PDF is."""

import json
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from knowledge.ingest.formats.types import BadFile, FileText, Format, Limits, NoText, Progress, Write
from knowledge.ingest.formats.types import gettext_noop as _

#: Points of its longer side: that of A4.
LONGER_SIDE = 842


def read(
    file: BinaryIO,
    *,
    limits: Limits,
    progress: Progress,
    write: Write,
    leave_pictures: bool = False,
    recognised: str = "",
    refuse_photographs: bool = False,
) -> FileText:
    """Read a picture, of which `recognised` names a file with what OCR has read; else it is left to be read later."""
    from knowledge.ingest.formats.picture_files import is_photograph, open_picture
    from knowledge.ingest.ocr.types import ReadLine
    from knowledge.ingest.pdf.document import write_text
    from knowledge.ingest.pdf.extract import page_read
    from knowledge.ingest.pdf.pages import Pages

    if not leave_pictures:
        raise BadFile(_("it is a picture: what it says can be read only where OCR is installed"))
    picture = open_picture(file)
    if refuse_photographs and is_photograph(picture):
        raise NoText(_("it looks like a photograph and not like text"))
    lines = json.loads(Path(recognised).read_text()).get("1") if recognised else None
    scale = LONGER_SIDE / max(picture.size)
    page = page_read(
        None if lines is None else [ReadLine(*line) for line in lines],
        width=picture.width * scale,
        height=picture.height * scale,
    )
    pages = Pages()
    pages.append(page)
    return replace(write_text(pages, write, leave_pictures=True, marks_pages=False), pages=0)


FORMAT = Format(".png", "PNG", ("image/png",), read, b"\x89PNG\r\n\x1a\n", is_shown=True, is_picture=True)
