"""Which database is read, by what is known of both; `tests/faults/test_replica.py` has two real servers."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import OperationalError, transaction
from pytest_django import Settings

from core.db import reading, replica
from core.db.reading import read_alias, read_complete, read_current, read_recent
from core.db.replica import ReplicaState, ReplicaWatch
from knowledge.models import IndexChange
from knowledge.retrieval.live_index import lexical_index, served_generation
from tests.conftest import PAGES, load_pages
from tests.servers import Server

PRIMARY, REPLICA = "default", "replica"


class KnownWatch(ReplicaWatch):
    """Knows what a test says it has found."""

    def find(self, **found: Any) -> None:
        now = time.monotonic()
        times = {name: now - found.pop(name) for name in ("at", "as_of", "primary_at") if name in found}
        self._state = ReplicaState(**{"at": now, "answers": True, "as_of": now, "primary_at": now, **times, **found})

    def state(self) -> ReplicaState:
        return self._state

    @contextmanager
    def reading(self) -> Iterator[None]:
        yield


@pytest.fixture
def watch(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> KnownWatch:
    settings.DATABASE_REPLICA_LAG_SECONDS = 5
    known = KnownWatch()
    known.find()
    monkeypatch.setattr(reading, "watch", known)
    monkeypatch.setattr(reading, "is_configured", lambda: True)
    return known


@pytest.mark.parametrize(
    ("found", "alias"),
    [
        ({}, REPLICA),
        ({"as_of": 4}, REPLICA),
        ({"as_of": 6}, PRIMARY),
        ({"as_of": 6, "primary_failed": True}, REPLICA),
        ({"as_of": 6, "primary_at": 6}, REPLICA),
        ({"answers": False}, PRIMARY),
        ({"answers": False, "primary_failed": True}, PRIMARY),
        ({"at": 60}, PRIMARY),
    ],
    ids=["well", "a little late", "too late", "too late and alone", "silent primary", "away", "both away", "no look"],
)
@pytest.mark.django_db(transaction=True)
def test_recent_reads_go_to_a_replica_that_is_recent_or_all_that_there_is(
    watch: KnownWatch, found: dict[str, Any], alias: str
) -> None:
    watch.find(**found)
    assert read_recent(read_alias) == alias
    assert read_alias() == PRIMARY


@pytest.mark.parametrize(
    ("found", "alias"),
    [({}, PRIMARY), ({"primary_failed": True}, REPLICA), ({"primary_failed": True, "answers": False}, PRIMARY)],
    ids=["well", "primary away", "both away"],
)
@pytest.mark.django_db(transaction=True)
def test_current_reads_leave_the_primary_only_where_it_is_away(
    watch: KnownWatch, found: dict[str, Any], alias: str
) -> None:
    watch.find(**found)
    assert read_current(read_alias) == alias


@pytest.mark.django_db(transaction=True)
def test_what_fails_on_the_replica_is_read_from_the_primary_and_the_replica_left_alone(watch: KnownWatch) -> None:
    read = []

    def fails_there() -> str:
        read.append(read_alias())
        if read_alias() == REPLICA:
            raise OperationalError
        return "found"

    assert read_recent(fails_there) == "found"
    assert read == [REPLICA, PRIMARY]
    assert read_recent(fails_there) == "found"
    assert read == [REPLICA, PRIMARY, PRIMARY]


@pytest.mark.django_db(transaction=True)
def test_what_may_be_missing_on_the_replica_is_looked_for_on_the_primary(watch: KnownWatch) -> None:
    def is_missing_there() -> str:
        if read_alias() == REPLICA:
            raise LookupError
        return "found"

    with pytest.raises(LookupError):
        read_recent(is_missing_there)
    assert read_recent(is_missing_there, missing=(LookupError,)) == "found"
    assert read_recent(read_alias) == REPLICA, "nothing is wrong with it"


@pytest.mark.django_db(transaction=True)
def test_a_transaction_reads_what_it_wrote(watch: KnownWatch) -> None:
    with transaction.atomic():
        assert read_recent(read_alias) == PRIMARY
        assert read_complete(str) == PRIMARY

    def begins_one() -> str:
        with transaction.atomic():
            return read_alias()

    assert read_recent(begins_one) == PRIMARY


@pytest.mark.django_db(transaction=True)
def test_an_index_that_is_ahead_of_the_replica_stays_and_one_of_a_restored_backup_does_not(
    watch: KnownWatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    load_pages(PAGES[:1])
    served = served_generation()
    index = lexical_index(served.pk)
    index.follow()
    held = index.at
    behind = held - 1
    monkeypatch.setattr(
        "knowledge.retrieval.bm25.index.newest_change",
        lambda: behind if read_alias() == REPLICA else IndexChange.objects.latest("pk").pk,
    )
    monkeypatch.setattr(index, "_build", lambda: pytest.fail("read anew"))
    read_recent(lambda: index.follow(behind))
    assert index.at == held
    monkeypatch.undo()
    IndexChange.objects.filter(pk=held).delete()
    index.follow()
    assert index.at < held


def test_without_a_replica_nobody_watches(server: Server, pages: None) -> None:
    with server.connect() as tab:
        tab.answer("How much is the semester contribution?")
    assert not replica.is_configured()
    assert "replica-watch" not in {thread.name for thread in threading.enumerate()}
