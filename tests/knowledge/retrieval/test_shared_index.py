"""A lexical index in a folder, as the processes of a machine share it: each object here stands for one of them."""

import datetime
import os
import shutil
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from django.db import connections, transaction
from django.db.models import F
from pytest_django import Settings

from knowledge.indexing.change_log import unrecorded
from knowledge.indexing.documents import sync_document
from knowledge.indexing.generations import live_generation
from knowledge.models import Document, IndexChange
from knowledge.retrieval.bm25.shared_index import IndexFolder, SharedLexicalIndex
from knowledge.retrieval.live_index import forget_indexes, own_index
from knowledge.retrieval.scope import build_scope
from knowledge.services.documents import delete_document, save_document
from knowledge.services.verification import retrievable_entries, verify_lexical
from tests.factories import CollectionFactory, DocumentFactory

pytestmark = pytest.mark.django_db(transaction=True)

Process = Callable[[], SharedLexicalIndex]


@pytest.fixture(autouse=True)
def _nothing_is_queued(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("knowledge.tasks.index_document.delay", lambda _id: None)


@pytest.fixture
def process(tmp_path: Path) -> Process:
    """Begin another process that shares the folder."""
    return lambda: SharedLexicalIndex(live_generation().pk, tmp_path)


def page(text: str, **values: object) -> Document:
    document: Document = DocumentFactory(text=text, **values)
    sync_document(document.pk)
    return document


def change(document: Document, text: str) -> None:
    document.text = text
    save_document(document=document)
    sync_document(document.pk)


def found(index: SharedLexicalIndex, text: str) -> list[int]:
    index.follow()
    return [document for _, document, _ in index.search(text, k=10, scope=build_scope())]


def never_reads_passages(index: SharedLexicalIndex, monkeypatch: pytest.MonkeyPatch) -> SharedLexicalIndex:
    monkeypatch.setattr(index, "_add", lambda *_: pytest.fail("read passages"))
    return index


def test_what_one_process_read_the_others_only_open(process: Process, monkeypatch: pytest.MonkeyPatch) -> None:
    parking = page("A parking permit costs 12 euros.")
    assert found(process(), "parking") == [parking.pk]
    other = never_reads_passages(process(), monkeypatch)
    assert found(other, "parking") == [parking.pk]


def test_a_change_that_one_process_took_in_the_others_see(process: Process, monkeypatch: pytest.MonkeyPatch) -> None:
    parking = page("A parking permit costs 12 euros.")
    ours, other = process(), process()
    assert found(ours, "parking") == found(other, "parking") == [parking.pk]
    library = page("The library lends books.")  # in a collection of its own
    change(parking, "A swimming course costs 12 euros.")
    assert found(ours, "library") == [library.pk]
    never_reads_passages(other, monkeypatch)
    assert (found(other, "library"), found(other, "parking")) == ([library.pk], [])
    delete_document(document=library)
    monkeypatch.undo()
    assert found(other, "library") == found(ours, "library") == []


def test_words_and_abbreviations_of_others_changes_are_known(process: Process) -> None:
    first = page("A parking permit costs 12 euros.")
    ours, other = process(), process()
    ours.follow()
    other.follow()
    change(first, "Tests such as the Test of English as a Foreign Language (TOEFL) are taken in autumn.")
    ours.follow()
    other.follow()
    pages = other.pages(build_scope(), is_known=lambda _word: False)
    assert pages.words.count("autumn") == 1
    assert "autumn" in pages.words.alike("a", 6)
    assert pages.abbreviations[0].long_forms("toefl") == ["Test of English as a Foreign Language"]


def test_changes_of_a_process_that_was_killed_are_read_again_and_are_there_once(
    process: Process, tmp_path: Path
) -> None:
    parking = page("A parking permit costs 12 euros.")
    ours = process()
    ours.follow()
    (state,) = tmp_path.glob("*/state.json")
    before = state.read_text()
    change(parking, "A parking permit costs 13 euros.")
    ours.follow()
    state.write_text(before)  # it was killed between
    other = process()
    assert found(other, "parking") == [parking.pk]
    assert other.contents() == retrievable_entries(live_generation().pk)


def test_a_folder_of_a_database_before_its_restore_is_made_anew(process: Process) -> None:
    parking = page("A parking permit costs 12 euros.")
    process().follow()
    # The backup is older than the last change, and others were made since.
    Document.objects.filter(pk=parking.pk).delete()
    IndexChange.objects.update(created_at=F("created_at") - datetime.timedelta(hours=1))
    library = page("The library lends books.")
    again = process()
    assert (found(again, "parking"), found(again, "library")) == ([], [library.pk])


@pytest.mark.parametrize("damaged", ["state.json", "*/meta.json"])
def test_a_damaged_folder_is_made_anew(process: Process, tmp_path: Path, damaged: str) -> None:
    parking = page("A parking permit costs 12 euros.")
    process().follow()
    for file in tmp_path.glob(f"*/{damaged}"):
        file.write_text("{")
    other = process()
    assert found(other, "parking") == [parking.pk]
    assert other.is_shared


def test_files_that_are_gone_are_made_anew(process: Process, tmp_path: Path) -> None:
    parking = page("A parking permit costs 12 euros.")
    ours = process()
    ours.follow()
    for folder in tmp_path.iterdir():
        shutil.rmtree(folder)
    assert found(process(), "parking") == [parking.pk]
    library = page("The library lends books.")
    assert found(ours, "library") == [library.pk]


def test_without_a_usable_folder_a_process_answers_from_memory_and_says_so(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    parking = page("A parking permit costs 12 euros.")
    (tmp_path / "file").touch()
    index = SharedLexicalIndex(live_generation().pk, tmp_path / "file")
    assert found(index, "parking") == [parking.pk]
    assert not index.is_shared
    assert "kept in memory" in caplog.text
    change(parking, "A swimming course costs 12 euros.")
    assert found(index, "parking") == []


def test_a_process_that_hangs_with_the_folder_delays_others_for_a_moment_only(
    process: Process, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("knowledge.retrieval.bm25.shared_index.PATIENCE_SECONDS", 0.2)
    parking = page("A parking permit costs 12 euros.")
    ours = process()
    ours.follow()
    hanging = IndexFolder(tmp_path, live_generation().pk)
    with hanging.locked():
        change(parking, "A swimming course costs 12 euros.")
        assert found(ours, "parking") == found(ours, "parking") == [parking.pk]
        assert caplog.text.count("held by another process") == 1
    assert (found(ours, "parking"), found(ours, "swimming")) == ([], [parking.pk])


def test_what_a_transaction_wrote_is_not_taken_in_before_it_is_committed(process: Process) -> None:
    parking = page("A parking permit costs 12 euros.")
    ours = process()
    with transaction.atomic():
        change(parking, "A swimming course costs 12 euros.")
        assert found(ours, "parking") == [parking.pk]
        transaction.set_rollback(True)
    assert (found(ours, "parking"), found(process(), "parking")) == ([parking.pk], [parking.pk])


def test_verifying_the_index_looks_at_the_shared_one_too(settings: Settings, tmp_path: Path) -> None:
    parking = page("A parking permit costs 12 euros.")
    settings.LEXICAL_INDEX_FOLDER = tmp_path
    forget_indexes()
    live = live_generation()
    assert verify_lexical(live).wrong == 0
    with unrecorded():
        change(parking, "A parking permit costs 13 euros.")
    assert verify_lexical(live).wrong == 2  # the former passage, and that of now
    forget_indexes()


def test_many_processes_that_follow_at_once_all_hold_what_the_database_has(process: Process) -> None:
    collection = CollectionFactory()
    documents = [page(f"A parking permit of the kind {number}.", collection=collection) for number in range(4)]
    processes = [process() for _ in range(4)]

    def work(number: int) -> None:
        try:
            for turn in range(5):
                change(documents[number], f"A parking permit of the kind {number} in the turn {turn}.")
                processes[number].follow()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(processes)) as pool:
        list(pool.map(work, range(len(processes))))
    wanted = retrievable_entries(live_generation().pk)
    for each in processes:
        each.follow()
        assert each.contents() == wanted


def test_what_is_changed_in_an_own_index_nobody_else_sees(process: Process, settings: Settings, tmp_path: Path) -> None:
    parking, other = page("A parking permit costs 12 euros."), page("The library lends books.")
    settings.LEXICAL_INDEX_FOLDER = tmp_path
    forget_indexes()
    own = own_index(live_generation().pk)
    before = own.as_now()
    Document.objects.filter(pk=parking.pk).update(status="archived")
    own.take_in(parking.pk)
    scope = build_scope()
    assert [index.search("parking", k=5, scope=scope) != [] for index in (before, own)] == [True, False]
    assert [document for _, document, _ in own.search("library", k=5, scope=scope)] == [other.pk]
    Document.objects.filter(pk=parking.pk).update(status="published")
    assert found(process(), "parking") == [parking.pk]
    forget_indexes()
    home = next(tmp_path.glob("own-*"))
    del own, before
    assert not home.exists()


def test_folders_that_nobody_needs_are_removed_when_an_index_is_made(process: Process, tmp_path: Path) -> None:
    page("A parking permit costs 12 euros.")
    live, days = live_generation().pk, 24 * 60 * 60
    names = {
        "gone": "0-former",
        "former": f"{live}-former",
        "long ago": f"{live}-older",
        "own": "own-1",
        "old": "own-2",
    }
    for name in names.values():
        (tmp_path / name).mkdir()
    for name, age in ((names["long ago"], 8 * days), (names["old"], 2 * days)):
        os.utime(tmp_path / name, (time.time() - age,) * 2)
    index = process()
    index.follow()
    left = {folder.name for folder in tmp_path.iterdir()}
    assert left >= {names["former"], names["own"]}
    assert not left & {names["gone"], names["long ago"], names["old"]}
