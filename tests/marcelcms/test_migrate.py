"""A migration waits for nobody for long, and says what to do instead."""

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from psycopg.conninfo import make_conninfo

from marcelcms.management.commands import migrate

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_table_in_use_ends_it_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(migrate, "LOCK_TIMEOUT", "200ms")
    entry = connection.settings_dict
    where = make_conninfo(
        host=entry["HOST"], port=entry["PORT"], dbname=entry["NAME"], user=entry["USER"], password=entry["PASSWORD"]
    )
    with psycopg.connect(where) as other:
        other.execute("LOCK TABLE django_migrations IN ACCESS EXCLUSIVE MODE")
        with pytest.raises(CommandError, match=r"run `manage.py migrate` again"):
            call_command("migrate", verbosity=0)
    call_command("migrate", verbosity=0)


def test_afterwards_nobody_else_is_in_a_hurry() -> None:
    call_command("migrate", verbosity=0)
    with connection.cursor() as cursor:
        cursor.execute("SHOW lock_timeout")
        assert cursor.fetchone() == ("0",)


@pytest.mark.parametrize(
    ("words", "begins_with_the_dump"),
    [((), True), (("--plan",), False), (("--check",), False), (("--fake",), False), (("sessions",), False)],
)
def test_a_dump_is_taken_for_all_migrations_only(
    words: tuple[str, ...], *, begins_with_the_dump: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[bool] = []
    monkeypatch.setattr(migrate, "fill_empty_database", lambda: taken.append(True))
    call_command("migrate", *words, verbosity=0)
    assert bool(taken) == begins_with_the_dump
