"""Restores a backup wholly or not at all: everything is checked first, the database changes in one transaction."""

import os
import re
import shutil
import subprocess
import tarfile
import tempfile
from contextlib import suppress
from pathlib import Path

from django.apps import apps
from django.conf import settings
from django.db import connection, connections
from django.db.migrations.loader import MigrationLoader

from marcelcms.backups.backup import COUNTED, RESTORING, hash_file
from marcelcms.backups.manifest import DATABASE, MANIFEST, MEDIA, BackupError, Manifest, read_manifest
from marcelcms.backups.pg_tools import connection_arguments, last_words, program, server_version

#: Everything of ours in the schema; what belongs to an extension stays, since only an administrator could make it.
EMPTY = """
SET lock_timeout = '30s';
DO $$
DECLARE each record;
BEGIN
    FOR each IN
        SELECT c.oid::regclass AS name, CASE relkind WHEN 'v' THEN 'VIEW' WHEN 'm' THEN 'MATERIALIZED VIEW'
            WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END AS kind
        FROM pg_class c
        WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'm')
            AND NOT EXISTS (
                SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = c.oid AND deptype = 'e'
            )
    LOOP
        EXECUTE format('DROP %s IF EXISTS %s CASCADE', each.kind, each.name);
    END LOOP;
    FOR each IN
        SELECT p.oid::regprocedure AS name FROM pg_proc p
        WHERE pronamespace = 'public'::regnamespace
            AND NOT EXISTS (
                SELECT FROM pg_depend WHERE classid = 'pg_proc'::regclass AND objid = p.oid AND deptype = 'e'
            )
    LOOP
        EXECUTE format('DROP ROUTINE IF EXISTS %s CASCADE', each.name);
    END LOOP;
END $$;
"""
#: Entries of a dump that are there already, and that only an administrator could make.
GIVEN = re.compile(r"\d+; .*\b(?:(?:EXTENSION|SCHEMA) - |COMMENT - (?:EXTENSION|SCHEMA)\b)")


def restore_backup(file: Path, *, replace: bool) -> Manifest:
    """Replace the database and media by the backup; both must be empty, unless `replace`.

    Nobody else may be using the database. Raise BackupError; nothing has changed then.
    """
    media = Path(settings.MEDIA_ROOT)
    media.mkdir(parents=True, exist_ok=True)
    # In the media's own folder, so that files need only be renamed when the database is there.
    with tempfile.TemporaryDirectory(dir=media, prefix=RESTORING) as temporary:
        staged = Path(temporary)
        manifest = unpack(file, staged)
        _check_versions(manifest)
        _check_alone()
        if not replace and (there := _what_is_there()):
            raise BackupError(
                f"There is something here already: {there}. Say --replace to put the backup in its place; "
                "what is here now will be gone."
            )
        _restore_database(staged / DATABASE, manifest)
        _put_media(staged / MEDIA, media)
    return manifest


def unpack(file: Path, folder: Path) -> Manifest:
    """Unpack a backup and check each of its files. Raise BackupError."""
    try:
        with tarfile.open(file) as archive:
            _unpack(archive, folder.resolve())
    except (OSError, tarfile.TarError, EOFError) as error:
        raise BackupError(
            f"{file.name} cannot be read: it is no backup, or damaged ({type(error).__name__})."
        ) from error
    if not (folder / MANIFEST).is_file():
        raise BackupError(f"{file.name} is no backup of MarcelCMS, or was cut off: it has no manifest.")
    manifest = read_manifest((folder / MANIFEST).read_bytes())
    for name, checksum in manifest.checksums.items():
        path = folder / name
        if not path.is_file() or hash_file(path) != checksum:
            raise BackupError(f"{file.name} is damaged: {name} is not what it was when the backup was made.")
    return manifest


def _unpack(archive: tarfile.TarFile, folder: Path) -> None:
    """Allow plain files and folders, none outside. `extractall(filter="data")` is not in Python before 3.11.4, which
    Debian 12 has."""
    for member in archive:
        path = (folder / member.name).resolve()
        if not path.is_relative_to(folder):
            raise tarfile.ReadError(f"{member.name} is outside")
        if member.isdir():
            path.mkdir(parents=True, exist_ok=True)
            continue
        content = archive.extractfile(member) if member.isfile() else None
        if content is None:
            raise tarfile.ReadError(f"{member.name} is no file")
        path.parent.mkdir(parents=True, exist_ok=True)
        with content, path.open("wb") as file:
            shutil.copyfileobj(content, file)


def _check_versions(manifest: Manifest) -> None:
    known = {f"{app}.{name}" for app, name in MigrationLoader(None, ignore_no_migrations=True).disk_migrations}
    if strange := [name for name in manifest.migrations if name not in known]:
        raise BackupError(
            f"The backup is of another version of MarcelCMS ({strange[0]} is unknown here): restore it with "
            f"the version that made it, of {manifest.made_at[:10]} or later."
        )
    if manifest.postgresql > server_version():
        raise BackupError(
            f"The backup is of PostgreSQL {manifest.postgresql}, the server is {server_version()}: use a newer server."
        )


def _check_alone() -> None:
    """Refuse while processes run: they would go on from indexes of what was there before."""
    own = connection.settings_dict["OPTIONS"].get("application_name", "")
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT application_name, count(*) FROM pg_stat_activity WHERE datname = current_database()"
            " AND application_name LIKE 'marcelcms %%' AND application_name <> %s GROUP BY 1 ORDER BY 1",
            [own],
        )
        others = cursor.fetchall()
    if others:
        names = ", ".join(name for name, _count in others)
        todo = "stop web, workers and beat, and a PgBouncer, which keeps their connections; then restore."
        raise BackupError(f"MarcelCMS still runs ({names}): {todo}")


def _what_is_there() -> str:
    tables = set(connection.introspection.table_names())
    counts = {
        model._meta.verbose_name_plural: model._default_manager.count()
        for model in map(apps.get_model, COUNTED)
        if model._meta.db_table in tables
    }
    return ", ".join(f"{count} {name}" for name, count in counts.items() if count)


def _restore_database(dump: Path, manifest: Manifest) -> None:
    """Restore: `pg_restore` writes statements; `psql` runs them, and gets its COMMIT only if all were written."""
    where, environment = connection_arguments()
    restore, psql = program("pg_restore"), program("psql")
    contents = subprocess.run([restore, "--list", dump], capture_output=True, text=True, check=False)  # noqa: S603
    if contents.returncode:
        raise BackupError(f"The database in the backup cannot be read: {last_words(contents.stderr.encode())}.")
    wanted = dump.with_suffix(".list")
    wanted.write_text("\n".join(line for line in contents.stdout.splitlines() if not GIVEN.match(line)))
    connections.close_all()
    dumping: list[str | Path] = [restore, "--no-owner", "--no-privileges", "--use-list", wanted, "--file", "-", dump]
    running: list[str | Path] = [
        psql,
        "--dbname",
        where,
        "--no-psqlrc",
        "--quiet",
        "--output",
        os.devnull,
        "--no-password",
        "--set",
        "ON_ERROR_STOP=1",
    ]
    with tempfile.TemporaryFile() as errors:
        writing = subprocess.Popen(running, env=environment, stdin=subprocess.PIPE, stderr=errors)  # noqa: S603
        reading = subprocess.Popen(dumping, stdout=subprocess.PIPE, stderr=errors)  # noqa: S603
        with writing, reading, suppress(BrokenPipeError):
            _pump(reading, writing, manifest)
        if reading.returncode or writing.returncode:
            errors.seek(0)
            raise BackupError(f"The database could not be restored, and is as it was: {last_words(errors.read())}.")


def _pump(reading: "subprocess.Popen[bytes]", writing: "subprocess.Popen[bytes]", manifest: Manifest) -> None:
    """Copy the dump to `psql`. Raise BrokenPipeError if `psql` stopped at an error."""
    if reading.stdout is None or writing.stdin is None:
        raise AssertionError("both were asked for")
    with writing.stdin as statements, reading.stdout as dumped:
        statements.write(b"BEGIN;\n" + EMPTY.encode())
        statements.writelines(f'CREATE EXTENSION IF NOT EXISTS "{name}";\n'.encode() for name in manifest.extensions)
        shutil.copyfileobj(dumped, statements)
        if reading.wait() == 0:
            statements.write(b"\nCOMMIT;\n")


def _put_media(staged: Path, media: Path) -> None:
    """Replace the media folder by the staged one, with renames only."""
    for path in media.iterdir():
        if path not in staged.parents:
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    for path in staged.iterdir() if staged.exists() else ():
        path.rename(media / path.name)
