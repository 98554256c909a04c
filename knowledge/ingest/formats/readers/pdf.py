"""PDF; how it is read is in `knowledge.ingest.pdf`."""

import json
from pathlib import Path
from typing import BinaryIO

from knowledge.ingest.formats.types import FileText, Format, Limits, Progress, Write


def read(
    file: BinaryIO,
    *,
    limits: Limits,
    progress: Progress,
    write: Write,
    use_bookmarks: bool = True,
    leave_pictures: bool = False,
    recognised: str = "",
) -> FileText:
    """Read a PDF; `recognised` names a file with what OCR has read, by page."""
    from knowledge.ingest.ocr.types import ReadLine
    from knowledge.ingest.pdf.document import read_document

    by_page = json.loads(Path(recognised).read_text()) if recognised else {}
    return read_document(
        file,
        limits=limits,
        progress=progress,
        write=write,
        use_bookmarks=use_bookmarks,
        leave_pictures=leave_pictures,
        recognised={int(page): [ReadLine(*line) for line in lines] for page, lines in by_page.items()},
    )


FORMAT = Format(".pdf", "PDF", ("application/pdf",), read, b"%PDF-", is_shown=True)
