"""Storage of documents' files below MEDIA_ROOT: the same content and name have the same place."""

import re
import unicodedata
from pathlib import Path

from django.core.files import File
from django.core.files.storage import default_storage

from knowledge.ingest.formats.types import Format
from knowledge.models import Document

NAME_BYTES = 60


def stored_name(digest: str, name: str, kind: Format) -> str:
    """Build the file's place in the storage, which is also its path below PUBLIC_URL."""
    endings = "|".join(map(re.escape, (kind.suffix, *kind.also)))
    stem = unicodedata.normalize("NFKC", re.sub(rf"(?:{endings})$", "", name, flags=re.IGNORECASE))
    stem = re.sub(r"[^\w.-]+", "-", stem).strip("-._").encode()[:NAME_BYTES].decode(errors="ignore").rstrip("-._")
    return f"documents/{digest[:16]}/{stem or 'document'}{kind.suffix}"


def keep(path: Path, kept: str) -> None:
    """Put the file into the storage; overwrite what a killed process left there half written.

    Raises OSError, with nothing of it left.
    """
    if default_storage.exists(kept):
        if default_storage.size(kept) == path.stat().st_size:
            return
        default_storage.delete(kept)
    with path.open("rb") as file:
        try:
            default_storage.save(kept, File(file))
        except OSError:
            default_storage.delete(kept)
            raise


def drop_unused(kept: str) -> None:
    """Delete a file that no document uses any more."""
    if not Document.objects.filter(file=kept).exists():
        default_storage.delete(kept)
