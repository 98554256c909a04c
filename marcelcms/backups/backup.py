"""Makes a backup: first the database in one snapshot, then the media, so that every file a row names is there."""

import hashlib
import io
import shutil
import subprocess
import tarfile
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import IO, cast

from django.apps import apps
from django.conf import settings
from django.db import connection

from marcelcms.backups.manifest import DATABASE, MANIFEST, MEDIA, BackupError, Manifest
from marcelcms.backups.pg_tools import connection_arguments, last_words, program, server_version

#: Halves of files that are being written, which nobody needs: of any, and of an Excel report.
PASSING = frozenset({".part", ".sheet"})
#: Beginnings of the names of folders that a backup and a restore work in. A backup may be made beside anything else.
MAKING, RESTORING = ".marcelcms-backup-", ".restore-"
#: Neither takes so long; with one a night, the next one clears up.
ABANDONED_SECONDS = 12 * 3600
COUNTED = ("knowledge.Document", "faqs.FAQ", "chat.Conversation", "auth.User")
CHUNK = 1 << 20


def make_backup(folder: Path) -> Path:
    """Write `folder/marcelcms-<time>.tar`, readable by its owner only, and return it. Raise BackupError."""
    folder.mkdir(parents=True, exist_ok=True)
    _clear_abandoned(folder, MAKING)
    _clear_abandoned(Path(settings.MEDIA_ROOT), RESTORING)
    made_at = datetime.now(UTC)
    target = folder / f"marcelcms-{made_at:%Y%m%d-%H%M%S}.tar"
    with tempfile.TemporaryDirectory(dir=folder, prefix=MAKING) as temporary:
        dump, draft = Path(temporary, DATABASE), Path(temporary, target.name)
        rows, migrations = _counts(), applied_migrations()
        _dump(dump)
        draft.touch(mode=0o600)
        with tarfile.open(draft, "w") as archive:
            checksums = {DATABASE: _add(archive, dump, DATABASE)}
            for path, name in _media():
                with suppress(FileNotFoundError):  # deleted since the database was dumped, with the row that names it
                    checksums[name] = _add(archive, path, name)
            manifest = Manifest(
                made_at=made_at.isoformat(timespec="seconds"),
                version=_product_version(),
                postgresql=server_version(),
                extensions=_extensions(),
                migrations=migrations,
                rows=rows,
                checksums=checksums,
            )
            data = manifest.to_json()
            entry = tarfile.TarInfo(MANIFEST)
            entry.size, entry.mode = len(data), 0o600
            archive.addfile(entry, io.BytesIO(data))
        draft.rename(target)
    return target


def _clear_abandoned(folder: Path, beginning: str) -> None:
    """Delete the copy of all conversations that a killed backup or restore left behind; nothing else deletes it."""
    for path in folder.glob(f"{beginning}*"):
        if time.time() - path.stat().st_mtime > ABANDONED_SECONDS:
            shutil.rmtree(path)


def hash_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def applied_migrations() -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT app || '.' || name FROM django_migrations ORDER BY 1")
        return [name for (name,) in cursor.fetchall()]


def _dump(target: Path) -> None:
    where, environment = connection_arguments()
    command: list[str | Path] = [
        *(program("pg_dump"), "--dbname", where, "--format", "custom", "--no-password"),
        *("--no-owner", "--no-privileges", "--schema", "public", "--lock-wait-timeout", "60s", "--file", target),
    ]
    done = subprocess.run(command, env=environment, stderr=subprocess.PIPE, check=False)  # noqa: S603
    if done.returncode:
        raise BackupError(f"The database could not be dumped: {last_words(done.stderr)}.")


def _add(archive: tarfile.TarFile, path: Path, name: str) -> str:
    """Add a file as it is at this moment and return its checksum. Raise FileNotFoundError."""
    with path.open("rb") as file:
        entry = archive.gettarinfo(arcname=name, fileobj=file)
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = ""
        entry.mode = 0o600
        hashing = _Hashing(file)
        archive.addfile(entry, cast("IO[bytes]", hashing))
    return hashing.digest.hexdigest()


class _Hashing:
    """Knows the checksum of what was read of a file: what is archived, though it may still grow."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self.digest = file, hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        self.digest.update(data)
        return data


def _media() -> Iterator[tuple[Path, str]]:
    """Yield every file with its name in the archive."""
    root = Path(settings.MEDIA_ROOT)
    for path in sorted(root.rglob("*")) if root.exists() else ():
        passing = path.suffix in PASSING or path.relative_to(root).parts[0].startswith(RESTORING)
        if path.is_file() and not path.is_symlink() and not passing:
            yield path, MEDIA + path.relative_to(root).as_posix()


def _counts() -> dict[str, int]:
    return {name: apps.get_model(name)._default_manager.count() for name in COUNTED}


def _extensions() -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT extname FROM pg_extension WHERE extname <> 'plpgsql' ORDER BY 1")
        return [name for (name,) in cursor.fetchall()]


def _product_version() -> str:
    try:
        return version("marcelcms")
    except PackageNotFoundError:  # it runs from its folder
        return ""
