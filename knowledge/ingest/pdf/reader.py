"""`read_pdf`: a PDF, whatever its name ends in."""

from pathlib import Path

from knowledge.ingest.formats.reader import read_file
from knowledge.ingest.formats.registry import FORMATS
from knowledge.ingest.formats.types import FileText, Limits, Progress


def read_pdf(
    source: Path | str | bytes,
    *,
    name: str = "",
    limits: Limits | None = None,
    progress: Progress | None = None,
    use_bookmarks: bool = True,
) -> FileText:
    """Read a PDF as `read_file` does. `use_bookmarks` is there to measure what headings are found without them."""
    return read_file(
        source, kind=FORMATS[".pdf"], name=name, limits=limits, progress=progress, use_bookmarks=use_bookmarks
    )
