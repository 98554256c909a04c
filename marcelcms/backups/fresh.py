"""The tables of an empty database from a dump of them, in a second: two hundred migrations take half a minute.

The dump is what these migrations make, so it counts only as long as their files say the same. Migrations that were
added since are applied after it. A server that does not take it, such as one older than what `pg_dump` wrote it for,
gets all migrations instead.
"""

import gzip
import re
import subprocess
import sys
from pathlib import Path

from django.db import DatabaseError, connection
from django.db.migrations.loader import MigrationLoader

from core.hashing import fingerprint
from marcelcms.backups.pg_tools import connection_arguments, program

DUMP = Path(__file__).with_name("fresh.sql.gz")
#: The schema that the dump names.
SCHEMA = "public"
#: Commands of psql; psycopg knows only SQL.
FOR_PSQL = re.compile(r"^\\(?:un)?restrict .*\n", re.MULTILINE)


def fill_empty_database() -> bool:
    """Make all tables, or none: return False where there are some, where the dump is of other migrations, and where the
    server does not take it."""
    if connection.introspection.table_names() or _current_schema() != SCHEMA:
        return False
    head, names, sql = gzip.decompress(DUMP.read_bytes()).decode().split("\n", 2)
    if recipe(names.split()) != head:
        return False
    try:
        with connection.cursor() as cursor:
            cursor.execute(sql)  # many statements at once are one transaction
    except DatabaseError:
        return False
    finally:
        connection.close()  # its search path and timeouts are the dump's
    return True


def _current_schema() -> str | None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_schema()")
        (name,) = cursor.fetchone()
    return str(name) if name else None


def write_dump() -> int:
    """Write the dump, of a database that has been migrated and holds nothing else; return its bytes."""
    where, environment = connection_arguments()
    command: list[str | Path] = [program("pg_dump")]
    command += ["--dbname", where, "--no-password", "--no-owner", "--no-privileges", "--no-comments"]
    command += ["--inserts", "--rows-per-insert=200"]
    dumped = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout  # noqa: S603
    names = sorted(f"{app}.{name}" for app, name in MigrationLoader(connection).applied_migrations)
    text = f"{recipe(names)}\n{' '.join(names)}\n{FOR_PSQL.sub('', dumped)}"
    return DUMP.write_bytes(gzip.compress(text.encode(), 9, mtime=0))


def recipe(names: list[str]) -> str:
    """Return a fingerprint of what the migrations of these names say; empty if one is missing."""
    there = MigrationLoader(None).disk_migrations
    found = [there.get((app, name)) for app, _, name in (each.partition(".") for each in names)]
    files = [sys.modules[each.__module__].__file__ for each in found if each]
    if len(files) < len(names):
        return ""
    return fingerprint(*(Path(str(file)).read_text("utf-8") for file in files))
