"""One process at a time."""

import ast
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import pytest
from django.db import connection

from core.db.locks import PER_ROW, ROWS, Lock, advisory_lock
from tests.runtime.processes import ROOT

pytestmark = pytest.mark.django_db
SOMETHING = Lock.PENDING_DOCUMENTS


def test_nobody_else_gets_it_meanwhile() -> None:
    with advisory_lock(SOMETHING) as first, advisory_lock(SOMETHING) as second:
        assert (first, second) == (True, False)


@pytest.mark.slow
def test_whoever_comes_right_afterwards_gets_it() -> None:
    for _ in range(100):
        with advisory_lock(SOMETHING) as is_mine:
            assert is_mine


def test_a_failure_lets_go_of_it_too() -> None:
    with pytest.raises(ZeroDivisionError), advisory_lock(SOMETHING):
        1 / 0  # noqa: B018
    with advisory_lock(SOMETHING) as is_mine:
        assert is_mine


def test_who_lost_the_database_meanwhile_ends_in_peace() -> None:
    with advisory_lock(SOMETHING) as is_mine:
        assert is_mine
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_locks"
                " JOIN pg_database ON pg_database.oid = database"
                " WHERE locktype = 'advisory' AND datname = current_database() AND pid <> pg_backend_pid()"
            )
            assert cursor.fetchone() == (1,)
    with advisory_lock(SOMETHING) as is_mine:
        assert is_mine


def test_no_lock_has_the_number_of_another_or_of_its_rows() -> None:
    assert len({lock.value for lock in Lock}) == len(Lock.__members__)
    numbers = [range(lock, lock + (ROWS if lock in PER_ROW else 1)) for lock in Lock]
    for first, second in combinations(numbers, 2):
        assert first.stop <= second.start or second.stop <= first.start


def test_rows_are_locked_apart() -> None:
    with (
        advisory_lock(Lock.REPORT, row=1) as first,
        advisory_lock(Lock.REPORT, row=2) as other,
        advisory_lock(Lock.REPORT, row=1) as again,
    ):
        assert (first, other, again) == (True, True, False)


def modules(word: str) -> Iterator[tuple[Path, ast.Module]]:
    """Read the modules in whose source the word stands."""
    for app in ("core", "knowledge", "faqs", "chat", "analytics", "marcelcms"):
        for path in sorted((ROOT / app).rglob("*.py")):
            if word in (source := path.read_text("utf-8")):
                yield path.relative_to(ROOT), ast.parse(source)


def test_locks_are_taken_by_their_functions_alone() -> None:
    asking = {
        str(path)
        for path, tree in modules("advisory_")
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and "advisory_" in node.value
    }
    assert asking == {"core/db/locks.py"}


def test_no_module_passes_a_bare_number() -> None:
    """Check that a member of Lock stands at each call, and a row's id if each row has a lock."""
    found = set()
    for path, tree in modules("core.db.locks"):
        imported = {
            alias.asname or alias.name
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and node.module == "core.db.locks"
            for alias in node.names
        }
        for node in ast.walk(tree):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in imported):
                continue
            where = f"{path}:{node.lineno}"
            assert node.args, where
            member = node.args[0]
            assert isinstance(member, ast.Attribute), where
            assert isinstance(member.value, ast.Name), where
            assert member.value.id == "Lock", where
            assert any(keyword.arg == "row" for keyword in node.keywords) == (Lock[member.attr] in PER_ROW), where
            found.add(Lock[member.attr])
    assert found == set(Lock)
