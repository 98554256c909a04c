"""A process killed in the middle of indexing loses nothing and doubles nothing."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import pytest
from django.db import connection

from knowledge.indexing.documents import sync_pending
from knowledge.indexing.generations import live_generation
from knowledge.models import Document, IndexedDocument, Passage
from tests.factories import CollectionFactory, DocumentFactory
from tests.servers import wait_until

ROOT = Path(__file__).resolve().parents[2]
PARTS = 6


def text(number: int) -> str:
    return "\n\n".join(f"# Part {part}\n\nMatter {number} is decided in room {part}." for part in range(PARTS))


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_killed_indexer_loses_and_doubles_nothing() -> None:
    collection = CollectionFactory()
    for number in range(120):
        DocumentFactory(collection=collection, text=text(number))
    live_generation()
    url = urlsplit(os.environ["DATABASE_URL"])
    database = urlunsplit(url._replace(path="/" + connection.settings_dict["NAME"]))
    command = [sys.executable, str(ROOT / "manage.py"), "reindex"]
    process = subprocess.Popen(command, env=os.environ | {"DATABASE_URL": database}, stdout=subprocess.DEVNULL)
    try:
        wait_until(lambda: IndexedDocument.objects.count() >= 10, seconds=60)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait(10)
    done = IndexedDocument.objects.count()
    assert 10 <= done < 120
    assert Passage.objects.count() == done * PARTS  # a document is indexed whole or not at all
    assert sync_pending() == 120 - done
    assert sync_pending() == 0
    rows = list(Passage.objects.order_by("document", "position").values_list("document", "position"))
    assert rows == [
        (pk, part) for pk in Document.objects.order_by("pk").values_list("pk", flat=True) for part in range(PARTS)
    ]
