"""What the doctor says of sessions, and what a pooler in transaction mode must not carry. A real PgBouncer is in
tests/deployment."""

from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from marcelcms.backups.manifest import BackupError
from marcelcms.backups.pg_tools import connection_arguments
from marcelcms.doctor.checks import servers
from marcelcms.doctor.findings import Level

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def pooled(monkeypatch: pytest.MonkeyPatch) -> None:
    """As PGBOUNCER=true leaves it."""
    monkeypatch.setitem(connection.settings_dict, "DISABLE_SERVER_SIDE_CURSORS", True)


def test_a_session_that_begins_as_it_should_is_well() -> None:
    assert [(finding.level, finding.said) for finding in servers.pooler()] == [(Level.OK, "none")]


def test_a_session_that_looks_at_too_few_candidates_is_told_of() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET hnsw.ef_search = 40")
    try:
        (finding,) = servers.pooler()
    finally:
        connection.close()
    assert finding.level == Level.WARN
    assert "hnsw.ef_search = 100" in finding.said


@pytest.mark.parametrize("words", [("migrate",), ("backup", "nowhere")], ids=["migrate", "backup"])
def test_a_command_that_changes_its_session_is_refused_behind_a_pooler(
    pooled: None, words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CommandError, match="PGBOUNCER=false"):
        call_command(*words)


def test_a_restore_gets_no_way_to_the_database_behind_a_pooler(pooled: None) -> None:
    with pytest.raises(BackupError, match="PGBOUNCER=false"):
        connection_arguments()
