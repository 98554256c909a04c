"""What staff correct in a text that was read stays until its source changes in the same places."""

from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import pytest
from django.apps import apps
from django.db import connection
from django.test.utils import CaptureQueriesContext

from core.hashing import fingerprint
from knowledge import migrations
from knowledge.corrections.merging import Words
from knowledge.ingest.importer import ImportReport, document_record, import_records
from knowledge.ingest.remarks import HELD, MERGED, OVERWRITTEN
from knowledge.models import Collection, Correction, Document, Passage
from knowledge.services.corrections import (
    DecidedMeanwhile,
    read_corrected,
    restore_original,
    save_merged,
    take_new_text,
)
from knowledge.services.documents import restore_revision, save_document
from knowledge.tasks import index_document
from tests.factories import CollectionFactory

pytestmark = pytest.mark.django_db

URL = "https://www.uni.example/fees"
PAGE = "# Fees\n\nThe fee is 30 euros.\n\nPay it [online][1].\n\nThere is no late fee.\n\nWrite to [the office][2].\n"
PAY, OFFICE, OTHER = (f"https://www.uni.example/{name}" for name in ("pay", "office", "other"))


@pytest.fixture(autouse=True)
def _nothing_is_queued(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("knowledge.tasks.index_document.delay", lambda _id: None)


@pytest.fixture
def collection() -> Collection:
    made: Collection = CollectionFactory()
    return made


def read(collection: Collection, text: str = PAGE, links: tuple[str, ...] = (PAY, OFFICE), **more: Any) -> ImportReport:
    references = [{"text": "", "url": link} for link in links]
    raw = {"url": URL, "title": "Fees", "text": text, "metadata": {"references": references}, **more}
    return import_records([(1, document_record(raw))], collection=collection)


def there() -> Document:
    return Document.objects.get(url=URL)


def correct(old: str = "30 euros", new: str = "300 euros") -> Document:
    document = there()
    document.text = document.text.replace(old, new)
    return save_document(document=document)


def said(report: ImportReport) -> list[str]:
    return [remark.template for _line, remark in report.remarks]


def addresses() -> list[str]:
    return [link["url"] for link in there().metadata["references"]]


def test_a_correction_keeps_what_was_read_and_is_searched(collection: Collection) -> None:
    read(collection)
    document = correct()
    kept = Correction.objects.get()
    assert (kept.document, kept.title, kept.text) == (document, "Fees", there().text.replace("300", "30"))
    assert kept.text == document_record({"url": URL, "text": PAGE}).text
    index_document(document.pk)
    assert "300 euros" in "".join(Passage.objects.live().filter(document=document).values_list("text", flat=True))


def test_an_edit_of_a_text_that_was_written_here_is_none(collection: Collection) -> None:
    Document.objects.create(collection=collection, url=URL, title="Fees", text=PAGE)
    correct()
    assert not Correction.objects.exists()


def test_the_same_text_read_again_changes_nothing(collection: Collection) -> None:
    read(collection)
    corrected = correct()
    report = read(collection)
    assert (report.unchanged, report.changed, said(report)) == (1, 0, [])
    assert (there().text, there().updated_at) == (corrected.text, corrected.updated_at)


def test_reading_what_was_not_corrected_costs_no_query_more(collection: Collection) -> None:
    read(collection)
    with CaptureQueriesContext(
        connection,
    ) as queries:
        read(collection)
    assert not [each for each in queries if "correction" in each["sql"]]


def test_what_changed_elsewhere_is_taken_over_beside_the_correction(collection: Collection) -> None:
    read(collection)
    correct()
    report = read(collection, PAGE.replace("no late fee", "a late fee"))
    assert (report.changed, said(report)) == (1, [MERGED])
    assert there().text == PAGE.replace("30 euros", "300 euros").replace("no late fee", "a late fee").strip()
    kept = Correction.objects.get()
    assert kept.merged_at
    assert "a late fee" in kept.text
    assert read(collection, PAGE.replace("no late fee", "a late fee")).unchanged == 1
    restore_original(document=there(), state=read_corrected(there()).state)
    assert there().content_hash == there().read_hash
    assert not Correction.objects.exists()


def test_what_changed_in_the_same_place_waits_and_the_correction_is_served(collection: Collection) -> None:
    read(collection)
    corrected = correct()
    newer = PAGE.replace("30 euros", "40 euros")
    assert said(read(collection, newer)) == [HELD]
    assert (there().text, there().altered_at) == (corrected.text, corrected.altered_at)
    kept = Correction.objects.get()
    assert "40 euros" in kept.new_text
    assert "30 euros" in kept.text
    assert read(collection, newer).unchanged == 1
    assert Correction.objects.get().found_at == kept.found_at


def conflict(collection: Collection) -> str:
    """Have 300 corrected where the source says 40 now, below other news; return the state."""
    read(collection)
    correct()
    read(collection, PAGE.replace("30 euros", "40 euros").replace("no late fee", "a late fee"))
    return read_corrected(there()).state


def test_a_conflict_is_decided_for_the_new_text(collection: Collection) -> None:
    state = conflict(collection)
    take_new_text(document=there(), state=state)
    assert "40 euros" in there().text
    assert there().content_hash == there().read_hash
    assert not Correction.objects.exists()
    versions = there().revisions.values_list("text", flat=True)
    assert any("300 euros" in text for text in versions)


def test_a_conflict_is_decided_for_the_correction_or_other_words(collection: Collection) -> None:
    state = conflict(collection)
    words = Words("Fees", there().text.replace("300 euros", "310 euros"))
    save_merged(document=there(), words=words, state=state)
    kept = Correction.objects.get()
    assert (there().text, kept.is_conflict) == (words.text, False)
    assert "40 euros" in kept.text
    assert read(collection, kept.text).unchanged == 1
    restore_original(document=there(), state=read_corrected(there()).state)
    assert "40 euros" in there().text


def test_nobody_decides_what_somebody_decided_meanwhile(collection: Collection) -> None:
    state = conflict(collection)
    words = Words("Fees", there().text.replace("300 euros", "310 euros"))
    save_merged(document=there(), words=words, state=state)
    for decide in (take_new_text, restore_original):
        with pytest.raises(DecidedMeanwhile):
            decide(document=there(), state=state)
    with pytest.raises(DecidedMeanwhile):
        save_merged(document=there(), words=Words("Fees", "Other words."), state=state)
    assert there().text == words.text
    save_merged(document=there(), words=Words("Fees", "Other words."), state=read_corrected(there()).state)
    assert there().text == "Other words."


@pytest.mark.parametrize("again", ["30 euros", "300 euros"])
def test_a_conflict_ends_by_itself_where_the_source_goes_back_or_agrees(collection: Collection, again: str) -> None:
    read(collection)
    correct()
    read(collection, PAGE.replace("30 euros", "40 euros"))
    read(collection, PAGE.replace("30 euros", again))
    assert "300 euros" in there().text
    assert not Correction.objects.in_conflict().exists()
    assert Correction.objects.exists() == (again == "30 euros")
    assert (there().content_hash == there().read_hash) == (again == "300 euros")


def test_undoing_a_correction_in_the_editor_or_by_a_version_ends_it(collection: Collection) -> None:
    read(collection)
    correct()
    correct("300 euros", "30 euros")
    assert not Correction.objects.exists()
    correct()
    restored = restore_revision(revision=there().revisions.order_by("pk")[0])
    assert not Correction.objects.exists()
    assert restored.content_hash == restored.read_hash


def test_blanks_that_a_form_loses_leave_no_correction(collection: Collection) -> None:
    Document.objects.create(
        collection=collection, url=URL, title="Fees", text=f"{PAGE}\n", read_hash=fingerprint("Fees", f"{PAGE}\n")
    )
    correct()
    document = there()
    document.text = document.text.replace("300", "30").strip()
    save_document(document=document)
    assert there().text == f"{PAGE}\n"
    assert not Correction.objects.exists()


def test_links_keep_their_addresses_when_their_numbers_change(collection: Collection) -> None:
    read(collection)
    correct()
    newer = PAGE.replace("no late fee.", "no late fee.\n\nSee [this][1].").replace("[online][1]", "[online][2]")
    newer = newer.replace("Write to [the office][2]", "Write to us")
    assert said(read(collection, newer, (OTHER, PAY))) == [MERGED]
    assert addresses() == [OTHER, PAY]
    assert "See [this][1]" in there().text
    assert "Pay it [online][2]" in there().text
    assert "300 euros" in there().text


def test_a_link_that_the_source_lost_gets_its_address_into_the_corrected_text(collection: Collection) -> None:
    read(collection)
    correct("no late fee", "no late fee, ask [the bursar][2]")
    correct("Write to [the office][2].", "Write [them][2].")
    newer = PAGE.replace("30 euros", "40 euros").replace(" [the office][2]", " us")
    assert said(read(collection, newer, (PAY,))) == [HELD]
    assert addresses() == [PAY, OFFICE]  # the corrected text is still numbered so
    save_merged(document=there(), words=Words("Fees", f"[x](<{OFFICE}>)"), state=read_corrected(there()).state)
    assert addresses() == [PAY]


def test_new_links_alone_reach_a_conflict_and_not_the_corrected_text(collection: Collection) -> None:
    conflict(collection)
    newer = PAGE.replace("30 euros", "40 euros").replace("no late fee", "a late fee")
    read(collection, newer, (PAY, OTHER))
    assert addresses() == [PAY, OFFICE]
    take_new_text(document=there(), state=read_corrected(there()).state)
    assert addresses() == [PAY, OTHER]


def test_what_a_program_changed_is_overwritten_with_a_remark(collection: Collection) -> None:
    read(collection)
    document = there()
    document.text = "Something else."
    document.save()
    assert said(read(collection, PAGE.replace("30", "40"))) == [OVERWRITTEN]


def test_an_edit_from_before_corrections_were_kept_becomes_one(collection: Collection) -> None:
    read(collection)
    document = there()
    document.text = document.text.replace("30 euros", "300 euros")
    document.save()  # as an earlier version did, which kept a version
    (migration,) = (each.name for each in iter_modules(migrations.__path__) if each.name.endswith("_corrections"))
    import_module(f"{migrations.__name__}.{migration}").keep_corrections(apps, None)
    kept = Correction.objects.get()
    assert "30 euros" in kept.text
    assert kept.corrected_at == there().altered_at
    assert fingerprint(kept.title, kept.text) == there().read_hash
