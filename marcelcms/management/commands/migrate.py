"""Django's `migrate`, which begins with a dump of the tables, and gives up rather than hold everybody up.

A migration that waits for a table makes all who come after it wait too, also those who only read.
"""

from typing import Any

from django.core.management.base import CommandError
from django.core.management.commands import migrate
from django.db import DEFAULT_DB_ALIAS, OperationalError, connections
from psycopg.errors import LockNotAvailable

from core.db import pgbouncer
from marcelcms.backups.fresh import fill_empty_database

LOCK_TIMEOUT = "5s"


class Command(migrate.Command):
    def handle(self, *args: Any, **options: Any) -> None:
        if pgbouncer.is_pooled():
            raise CommandError(pgbouncer.GO_STRAIGHT)
        if wants_all(options):
            fill_empty_database()
        connection = connections[options["database"]]
        with connection.cursor() as cursor:
            cursor.execute("SELECT set_config('lock_timeout', %s, false)", [LOCK_TIMEOUT])
        try:
            super().handle(*args, **options)
        except OperationalError as error:
            if not isinstance(error.__cause__, LockNotAvailable):
                raise
            raise CommandError(
                f"A table was in use for longer than {LOCK_TIMEOUT}. The migration that waited for it changed nothing, "
                "those before it are done: run `manage.py migrate` again, at a quieter time or with workers stopped."
            ) from error
        finally:
            with connection.cursor() as cursor:
                cursor.execute("RESET lock_timeout")


def wants_all(options: dict[str, Any]) -> bool:
    """Return whether all migrations are to be applied: not those of one app, and not only shown or noted."""
    is_noting = options["plan"] or options["check_unapplied"] or options["fake"]
    return options["database"] == DEFAULT_DB_ALIAS and not options["app_label"] and not is_noting
