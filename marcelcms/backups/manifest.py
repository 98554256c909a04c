"""The manifest of a backup."""

import json
from dataclasses import asdict, dataclass
from typing import Any

MANIFEST, DATABASE, MEDIA = "manifest.json", "database.dump", "media/"
FORMAT = 1


class BackupError(Exception):
    """A backup cannot be made, or not be used; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """`migrations` are the applied ones as `app.name`, `checksums` the SHA-256 of each other member of the file."""

    made_at: str
    version: str
    postgresql: int
    extensions: list[str]
    migrations: list[str]
    rows: dict[str, int]
    checksums: dict[str, str]
    format: int = FORMAT

    def to_json(self) -> bytes:
        return json.dumps(asdict(self), indent=1).encode()


def read_manifest(data: bytes) -> Manifest:
    """Parse a manifest. Raise BackupError."""
    try:
        values: dict[str, Any] = json.loads(data)
        if values["format"] != FORMAT:
            raise BackupError(f"This backup is of the form {values['format']}, this version reads {FORMAT}.")
        return Manifest(**values)
    except (ValueError, TypeError, KeyError) as error:
        raise BackupError("This is no backup of MarcelCMS: its manifest cannot be read.") from error
