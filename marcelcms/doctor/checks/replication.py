"""The replica that searches and dashboards are read from."""

import time
from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, Error, connections

from core.db.replica import ALIAS, CLUSTER, is_configured
from marcelcms.doctor.findings import Finding, fail, ok, warn

PAUSE_SECONDS = 0.02


def replica() -> Iterator[Finding]:
    """Check whether the replica answers, is one of this database, and how soon it has what was written."""
    if not is_configured():
        yield ok("replica", "none: everything is read from the primary")
        return
    try:
        if not _ask(ALIAS, "SELECT pg_is_in_recovery()"):
            yield fail(
                "replica",
                "the server is no standby, and is not read from",
                "Name a hot standby of DATABASE_URL's server in DATABASE_REPLICA_URL, or leave it out.",
            )
        elif _ask(ALIAS, CLUSTER) != _ask(DEFAULT_DB_ALIAS, CLUSTER):
            yield fail(
                "replica",
                "the server is the standby of another one",
                "Name a hot standby of DATABASE_URL's server in DATABASE_REPLICA_URL, now: it is read from.",
            )
        else:
            yield _lag()
            yield from _session()
    except Error as error:
        if connections[DEFAULT_DB_ALIAS].errors_occurred:
            raise
        said = (str(error).splitlines() or [type(error).__name__])[0]
        yield fail("replica", said[:200], "Check DATABASE_REPLICA_URL, the server, and its log.")


def _lag() -> Finding:
    """Measure how long the replica takes to have the present end of the primary's log."""
    end = _ask(DEFAULT_DB_ALIAS, "SELECT pg_current_wal_lsn()::text")
    began = time.monotonic()
    while not _ask(ALIAS, "SELECT pg_last_wal_replay_lsn() >= %s::pg_lsn", end):
        if time.monotonic() - began > settings.DATABASE_REPLICA_LAG_SECONDS:
            behind = _ask(ALIAS, "SELECT pg_size_pretty(%s::pg_lsn - pg_last_wal_replay_lsn())", end)
            return warn(
                "replica",
                f"behind by {behind} after {settings.DATABASE_REPLICA_LAG_SECONDS} s: the primary is read instead",
                "Look at its log, its disk, the network, and at long queries there (max_standby_streaming_delay).",
            )
        time.sleep(PAUSE_SECONDS)
    return ok("replica", f"has what is written after {time.monotonic() - began:.2f} s")


def _session() -> Iterator[Finding]:
    lacking = [
        name
        for name, value in settings.DATABASE_SESSION.items()
        if _ask(ALIAS, "SELECT current_setting(%s, true)", name) != value
    ]
    if lacking:
        yield warn(
            "replica",
            f"sessions lack {', '.join(lacking)}: search finds less",
            "Give its PgBouncer the connect_query of docker/pgbouncer.ini. Without one leave REPLICA_PGBOUNCER out.",
        )


def _ask(alias: str, statement: str, *values: str) -> Any:
    with connections[alias].cursor() as cursor:
        cursor.execute(statement, values or None)
        return cursor.fetchone()[0]
