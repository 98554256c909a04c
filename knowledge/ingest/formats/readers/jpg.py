"""Pictures of text (JPEG)."""

from knowledge.ingest.formats.readers.png import read
from knowledge.ingest.formats.types import Format

FORMAT = Format(
    ".jpg", "JPEG", ("image/jpeg", "image/jpg"), read, b"\xff\xd8\xff", is_shown=True, is_picture=True, also=(".jpeg",)
)
