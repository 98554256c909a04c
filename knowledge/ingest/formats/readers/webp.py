"""Pictures of text (WebP), which many websites make of others by themselves."""

from knowledge.ingest.formats.readers.png import read
from knowledge.ingest.formats.types import Format

FORMAT = Format(".webp", "WebP", ("image/webp",), read, b"WEBP", is_shown=True, is_picture=True)
