"""One process at a time."""

import pytest
from django.db import connection

from knowledge.locks import only_one

pytestmark = pytest.mark.django_db
SOMETHING = 0x6D61726365


def test_nobody_else_gets_it_meanwhile() -> None:
    with only_one(SOMETHING) as first, only_one(SOMETHING) as second:
        assert (first, second) == (True, False)


def test_whoever_comes_right_afterwards_gets_it() -> None:
    for _ in range(100):
        with only_one(SOMETHING) as is_mine:
            assert is_mine


def test_a_failure_lets_go_of_it_too() -> None:
    with pytest.raises(ZeroDivisionError), only_one(SOMETHING):
        1 / 0  # noqa: B018
    with only_one(SOMETHING) as is_mine:
        assert is_mine


def test_who_lost_the_database_meanwhile_ends_in_peace() -> None:
    with only_one(SOMETHING) as is_mine:
        assert is_mine
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_locks"
                " JOIN pg_database ON pg_database.oid = database"
                " WHERE locktype = 'advisory' AND datname = current_database() AND pid <> pg_backend_pid()"
            )
            assert cursor.fetchone() == (1,)
    with only_one(SOMETHING) as is_mine:
        assert is_mine
