"""PDF; how it is read is in `knowledge.ingest.pdf`."""

from typing import BinaryIO

from knowledge.ingest.formats.types import FileText, Format, Limits, Progress


def read(file: BinaryIO, *, limits: Limits, progress: Progress, use_bookmarks: bool = True) -> FileText:
    from knowledge.ingest.pdf.document import read_document

    return read_document(file, limits=limits, progress=progress, use_bookmarks=use_bookmarks)


FORMAT = Format(".pdf", "PDF", ("application/pdf",), read, b"%PDF-", is_shown=True)
