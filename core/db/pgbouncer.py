"""A pooler between this process and PostgreSQL, such as PgBouncer in transaction mode: what it must not carry."""

from django.db import connection, transaction

from core.db.prepared import fetch_all

#: Whoever reads it is asked for the way past the pooler.
GO_STRAIGHT = (
    "DATABASE_URL is PgBouncer's (PGBOUNCER=true), and this changes the session that it works in, which others would "
    "get next. Run it with PostgreSQL's own address in DATABASE_URL, and PGBOUNCER=false."
)


def is_pooled() -> bool:
    """Whether the settings say so."""
    return bool(connection.settings_dict.get("DISABLE_SERVER_SIDE_CURSORS"))


def stands_between() -> bool:
    """Whether it is so: a pooler tells its clients a process number of its own making."""
    connection.ensure_connection()
    told: int = connection.connection.info.backend_pid
    ((is_it,),) = fetch_all("SELECT pg_backend_pid()")
    return told != int(is_it)


def keeps_prepared_statements() -> bool:
    """Whether what a client prepares gets a name of the pooler's (PgBouncer with max_prepared_statements above 0);
    where the client's own names reach PostgreSQL, the next client does not find its statements there."""
    with transaction.atomic():
        fetch_all("SELECT 1 AS prepared")
        rows = fetch_all("SELECT name FROM pg_prepared_statements")
    return not any(name.startswith("_pg3_") for (name,) in rows)
