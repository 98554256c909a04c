"""How the database is emptied after a test that committed: as Django's `flush` does, at a tenth of its price.

`flush` truncates every table and makes content types, permissions and built-in profiles anew, which takes longer than
most tests. Here the tables that hold rows are found and only those rows are deleted; what stands in every database
alike stays, or is put back from a copy.
"""

from django.db import transaction
from django.db.backends.base.base import BaseDatabaseWrapper

#: The same in every database that is migrated.
STAY = {"django_content_type", "auth_permission", "django_migrations"}
#: What every migration writes anew, and the name of its copy.
BUILT_IN, COPY = ("chat_retrievalprofile", "chat_profileleg"), "built_in_{}"


def free_space(database: BaseDatabaseWrapper) -> None:
    """Free the space of the many rows that earlier tests rolled back: a list would be slower for it."""
    another = database.copy()  # this one may be in a transaction
    with another.cursor() as cursor:
        cursor.execute("VACUUM")
    another.close()


def empty(database: BaseDatabaseWrapper) -> None:
    from chat.pipeline.retrieval.profiles import write_built_in

    tables = sorted(set(database.introspection.django_table_names(only_existing=True)) - STAY)
    quoted = {table: database.ops.quote_name(table) for table in tables}
    holds = " UNION ALL ".join(f"SELECT '{table}' WHERE EXISTS (SELECT FROM {quoted[table]})" for table in tables)
    with transaction.atomic(), database.cursor() as cursor:
        # Who still writes is waited for, as TRUNCATE would.
        cursor.execute(f"LOCK TABLE {', '.join(quoted.values())} IN SHARE ROW EXCLUSIVE MODE")
        cursor.execute(holds)
        full = [table for (table,) in cursor.fetchall()]
        cursor.execute("SET LOCAL session_replication_role = replica")  # no triggers, foreign keys' among them
        for table in full:
            cursor.execute(f"DELETE FROM {quoted[table]}")
        cursor.execute("SELECT to_regclass(%s)", [COPY.format(BUILT_IN[-1])])
        has_copy = cursor.fetchone() != (None,)
        if not has_copy:
            write_built_in()
        for table in BUILT_IN:
            copy = COPY.format(table)
            source, target = (copy, f"INSERT INTO {table}") if has_copy else (table, f"CREATE TABLE {copy} AS")
            cursor.execute(f"{target} SELECT * FROM {source}")
