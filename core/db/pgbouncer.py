"""Detection of a pooler between this process and PostgreSQL, such as PgBouncer in transaction mode."""

from django.db import connection, transaction

from core.db.prepared import fetch_all

#: Read by code that needs an address without the pooler.
GO_STRAIGHT = (
    "DATABASE_URL is PgBouncer's (PGBOUNCER=true), and this changes the session that it works in, which others would "
    "get next. Run it with PostgreSQL's own address in DATABASE_URL, and PGBOUNCER=false."
)


def is_pooled() -> bool:
    """Return whether the settings say that a pooler is used."""
    return bool(connection.settings_dict.get("DISABLE_SERVER_SIDE_CURSORS"))


def stands_between() -> bool:
    """Detect a pooler: it gives its clients process numbers of its own."""
    connection.ensure_connection()
    told: int = connection.connection.info.backend_pid
    ((is_it,),) = fetch_all("SELECT pg_backend_pid()")
    return told != int(is_it)


def keeps_prepared_statements() -> bool:
    """Detect whether the pooler renames prepared statements (PgBouncer with max_prepared_statements above 0).

    Otherwise the client's own names reach PostgreSQL, and the next client does not find its statements there.
    """
    with transaction.atomic():
        fetch_all("SELECT 1 AS prepared")
        rows = fetch_all("SELECT name FROM pg_prepared_statements")
    return not any(name.startswith("_pg3_") for (name,) in rows)
