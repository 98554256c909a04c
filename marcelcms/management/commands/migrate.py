"""Django's `migrate`, which gives up rather than hold everybody up.

A migration that waits for a table makes all who come after it wait too, also those who only read.
"""

from typing import Any

from django.core.management.base import CommandError
from django.core.management.commands import migrate
from django.db import OperationalError, connections
from psycopg.errors import LockNotAvailable

from core.db import pgbouncer

LOCK_TIMEOUT = "5s"


class Command(migrate.Command):
    def handle(self, *args: Any, **options: Any) -> None:
        if pgbouncer.is_pooled():
            raise CommandError(pgbouncer.GO_STRAIGHT)
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
