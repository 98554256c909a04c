"""PostgreSQL, Valkey and the mail servers: versions, settings that matter, room, and clocks."""

import imaplib
from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.core.mail import get_connection
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from chat.cases.mail.mailbox import open_mailbox
from chat.cases.mail.signing import takes_replies
from core import redis
from core.db import pgbouncer
from marcelcms.doctor.findings import Finding, fail, ok, warn

LEAST_POSTGRES, LEAST_PGVECTOR = 160_000, (0, 8)
#: Of all connections that the server allows.
BUSY = 0.8
SKEW_SECONDS = 5


def database() -> Iterator[Finding]:
    connection.ensure_connection()
    version = connection.connection.info.server_version
    if version < LEAST_POSTGRES:
        yield fail("database", f"PostgreSQL {version // 10_000}", "Upgrade the server to PostgreSQL 16 or newer.")
    else:
        size = _one("SELECT pg_size_pretty(pg_database_size(current_database()))")
        yield ok("database", f"PostgreSQL {version // 10_000}, {size}")


def extensions() -> Iterator[Finding]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT extname, extversion FROM pg_extension")
        there = dict(cursor.fetchall())
    for name in ("vector", "pg_trgm"):
        if name not in there:
            yield fail(
                "extensions", f"{name} is missing", f"As an administrator of the database: CREATE EXTENSION {name};"
            )
    if version := there.get("vector"):
        if tuple(map(int, version.split(".")[:2])) < LEAST_PGVECTOR:
            yield fail(
                "extensions",
                f"pgvector {version}",
                "Install pgvector 0.8 or newer, then: ALTER EXTENSION vector UPDATE;",
            )
        else:
            yield ok("extensions", f"pgvector {version}")


def migrations() -> Iterator[Finding]:
    executor = MigrationExecutor(connection)
    missing = executor.migration_plan(executor.loader.graph.leaf_nodes())
    if missing:
        yield fail("migrations", f"{len(missing)} not applied", "Run `manage.py migrate`.")
    else:
        yield ok("migrations", "all applied")


def connections() -> Iterator[Finding]:
    used = int(_one("SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'"))
    most = int(_one("SHOW max_connections"))
    said = f"{used} of {most} connections"
    if used > BUSY * most:
        yield warn("connections", said, "Raise max_connections, lower DATABASE_POOL, or put PgBouncer in front.")
    else:
        yield ok("connections", said)


def pooler() -> Iterator[Finding]:
    """Check whether what stands between here and PostgreSQL does what `docker/pgbouncer.ini` does."""
    is_between = pgbouncer.stands_between()
    lacking = [
        f"{name} = {value}"
        for name, value in settings.DATABASE_SESSION.items()
        if _one("SELECT current_setting(%s, true)", name) != value
    ]
    if lacking:
        statements = "".join(f"SET {each}; " for each in lacking).rstrip("; ")
        todo = (
            f"In PgBouncer's line of this database: connect_query='{statements}'."
            if is_between
            else "Leave `options` out of DATABASE_URL, and PGBOUNCER=true where there is no PgBouncer."
        )
        yield warn("pooler", f"sessions lack {', '.join(lacking)}: search finds less", todo)
    if is_between and not pgbouncer.is_pooled():
        yield warn(
            "pooler",
            "a pooler stands between, and PGBOUNCER is not set",
            "Set PGBOUNCER=true where it lends connections for a transaction; in session mode all is well.",
        )
    elif is_between and not pgbouncer.keeps_prepared_statements():
        yield fail(
            "pooler",
            "the pooler does not keep prepared statements: questions will fail",
            "Take PgBouncer 1.21 or newer, with max_prepared_statements above 0.",
        )
    elif not lacking:
        yield ok("pooler", "one stands between, and does what is needed" if is_between else "none")


def clocks() -> Iterator[Finding]:
    """Compare clocks: tokens, validity dates and schedules go by this machine's clock, rows by the database's."""
    skew = abs((_one("SELECT clock_timestamp()") - timezone.now()).total_seconds())
    if skew > SKEW_SECONDS:
        yield fail(
            "clocks", f"this machine and the database differ by {skew:.0f} s", "Let both follow a time server (NTP)."
        )
    else:
        yield ok("clocks", "agree with the database's")


def valkey() -> Iterator[Finding]:
    client = redis.valkey(settings.REDIS_URL)
    info: dict[str, Any] = client.info()
    version = info.get("valkey_version") or info.get("redis_version", "?")
    yield ok("valkey", f"{version}, {info.get('used_memory_human', '?')}")
    if info.get("maxmemory") and info.get("maxmemory_policy") != "noeviction":
        yield fail(
            "valkey",
            f"maxmemory-policy is {info['maxmemory_policy']}: under pressure it throws away queued work",
            "Set maxmemory-policy to noeviction.",
        )
    if not info.get("aof_enabled") and not info.get("rdb_last_save_time"):
        yield warn("valkey", "nothing is kept on disk", "Set appendonly to yes: queued work outlives a restart then.")
    elif not info.get("aof_enabled"):
        yield warn("valkey", "appendonly is off: a crash loses the last minutes", "Set appendonly to yes.")


def mail_server() -> Iterator[Finding]:
    """Connect and log in as for an e-mail, and send none."""
    if not settings.EMAIL_HOST:
        yield ok("mail server", "none: no e-mail is sent")
        return
    place = f"{settings.EMAIL_HOST}:{settings.EMAIL_PORT}"
    try:
        with get_connection():
            yield ok("mail server", f"{place} takes e-mails")
    except OSError as error:
        # What it says may hold the name that logs in.
        todo = "Check EMAIL_URL: host, port, name, password, and tls=true or smtps:// as the server wants it."
        yield fail("mail server", f"{place}: {type(error).__name__}", todo)


def mailbox() -> Iterator[Finding]:
    """Log in to the mailbox of students' answers, and read nothing."""
    if not settings.CASE_MAIL_ADDRESS and not settings.MAILBOX.host:
        yield ok("mailbox", "none: students answer in the chat")
        return
    if not takes_replies():
        missing = "IMAP_URL" if settings.CASE_MAIL_ADDRESS else "CASE_MAIL_ADDRESS"
        yield warn("mailbox", f"{missing} is not set: students answer in the chat", "Set both, or neither.")
        return
    place = f"{settings.MAILBOX.host}:{settings.MAILBOX.port}"
    try:
        with open_mailbox():
            yield ok("mailbox", f"{place} can be read")
    except (OSError, imaplib.IMAP4.error) as error:
        # What it says may hold the name that logs in.
        todo = "Check IMAP_URL: host, port, name, password, folder, and imaps:// or tls=true as the server wants it."
        yield fail("mailbox", f"{place}: {type(error).__name__}", todo)


def _one(statement: str, *values: str) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(statement, values or None)
        return cursor.fetchone()[0]
