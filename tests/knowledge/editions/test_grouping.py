"""Editions of one matter are grouped, pages that only look alike are not, and what staff decided stays."""

from pathlib import Path

import pytest
from docx import Document as WordFile
from pytest_django import Settings

from knowledge.indexing.documents import sync_document
from knowledge.ingest.file_importer import import_file
from knowledge.models import Collection, Document, Edition, EditionGroup
from tests.factories import CollectionFactory, DocumentFactory

pytestmark = pytest.mark.django_db

TEXT = """# {title}

Every student pays the contribution of {amount} euros by {day}. It is paid by bank transfer to the account of the
university, and the reference is the number of the student card. Who pays late owes a further 20 euros. The contribution
has a share for the student services, which run the refectories and dormitories, and one for the semester ticket.
Exemptions are granted on request by the office of {unit}.
"""


@pytest.fixture(autouse=True)
def _nothing_is_queued(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("knowledge.tasks.index_document.delay", lambda _id: None)


@pytest.fixture
def collection() -> Collection:
    found: Collection = CollectionFactory()
    return found


def page(collection: Collection, title: str, path: str, *, unit: str = "student affairs", **values: object) -> Document:
    text = TEXT.format(title=title, amount=300 + len(path) * 7, day=f"{len(path) % 27 + 1} October", unit=unit)
    url = f"https://www.uni.example/{path}"
    fields = {"collection": collection, "title": title, "url": url, "text": text} | values
    document: Document = DocumentFactory(**fields)
    sync_document(document.pk)
    return document


def groups() -> list[list[str]]:
    return sorted(
        sorted(group.editions.values_list("document__title", flat=True)) for group in EditionGroup.objects.all()
    )


def test_pages_of_several_terms_are_one_group(collection: Collection) -> None:
    for term, path in (("WS 2024/25", "ws-2024-25"), ("SoSe 2025", "sose-2025"), ("WS 2025/26", "ws-2025-26")):
        page(collection, f"Fees {term}", f"fees/{path}")
    page(collection, "Library", "library")
    assert groups() == [["Fees SoSe 2025", "Fees WS 2024/25", "Fees WS 2025/26"]]
    assert EditionGroup.objects.get().title == "Fees"
    assert Edition.objects.filter(kind="").count() == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("Fees MSc Informatics 2024", "fees/a-2024"), ("Fees MSc Data Science 2025", "fees/a-2025")),
        (("Fees 2024", "physics/fees-2024"), ("Fees 2025", "chemistry/fees-2025")),
        (("Fees 2025", "fees-2025"), ("Fees 2025", "fees-2025-b")),
        (("Fees WS 2025/26", "a"), ("Fees PO 2019", "a/b")),
        (("Mathematics 1 WS 2024/25", "m-ws-2024-25"), ("Mathematics 2 WS 2025/26", "m-ws-2025-26")),
        (("Analysis I WS 2024/25", "m-ws-2024-25"), ("Analysis II WS 2025/26", "m-ws-2025-26")),
        (("Fees", "fees-a"), ("Fees", "fees-b")),
    ],
)
def test_pages_that_only_look_alike_are_not(
    collection: Collection, one: tuple[str, str], other: tuple[str, str]
) -> None:
    page(collection, *one)
    page(collection, *other)
    assert groups() == []


def test_two_faculties_with_numbered_addresses_are_told_apart_by_their_names(collection: Collection) -> None:
    page(collection, "Fees 2024", "node/17", unit="the faculty of physics")
    page(collection, "Fees 2025", "node/1234", unit="the faculty of physics")
    page(collection, "Fees 2023", "node/99", unit="the faculty of chemistry, where chemistry is taught")
    page(collection, "Fees 2025", "node/77", unit="the faculty of chemistry, where chemistry is taught")
    assert groups() == [["Fees 2023", "Fees 2025"], ["Fees 2024", "Fees 2025"]]


def test_other_collections_languages_audiences_and_texts_are_apart(collection: Collection) -> None:
    page(collection, "Fees 2023", "fees-2023")
    page(CollectionFactory(), "Fees 2024", "fees-2024")
    page(collection, "Fees 2024", "fees-2024", language="de")
    page(collection, "Fees 2025", "fees-2025", audience=["programme:law"])
    page(collection, "Fees 2026", "fees-2026", text="# News\n\nThe rector opened a new building by the river today.")
    assert groups() == []


def test_regulations_for_readers_of_their_own_are_editions(collection: Collection) -> None:
    page(collection, "Handbook PO 2019", "handbook-po-2019", audience=["regulation:2019"])
    page(collection, "Handbook PO 2023", "handbook-po-2023", audience=["regulation:2023"])
    assert groups() == [["Handbook PO 2019", "Handbook PO 2023"]]


def test_two_different_pages_of_one_term_leave_it_open_whose_editions_the_others_are(collection: Collection) -> None:
    page(collection, "Fees 2024", "fees-2024")
    page(collection, "Fees 2025", "fees-2025")
    assert len(groups()) == 1
    other = (
        TEXT.format(title="Fees", amount=1, day="1 May", unit="law") + "And much else that is said nowhere else. " * 9
    )
    page(collection, "Fees 2025", "fees/2025", text=other)
    assert groups() == []


def test_a_page_and_its_pdf_may_both_be_of_one_term(collection: Collection) -> None:
    page(collection, "Fees 2024", "fees-2024.html")
    page(collection, "Fees 2025", "fees-2025.html")
    page(collection, "Fees 2025", "fees-2025.pdf")
    assert groups() == [["Fees 2024", "Fees 2025", "Fees 2025"]]


def test_an_edit_takes_a_document_out_of_its_group_and_a_correction_brings_it_in(collection: Collection) -> None:
    page(collection, "Fees 2024", "fees-2024")
    document = page(collection, "Fees 2025", "fees-2025")
    document.title = "Fees for guests 2025"
    document.save()
    sync_document(document.pk)
    assert groups() == []
    undated = page(collection, "Fees", "fees")
    assert groups() == []
    undated.term = "2026"
    undated.save()
    sync_document(undated.pk)
    assert groups() == [["Fees", "Fees 2024"]]


def test_a_list_of_very_many_is_no_group(collection: Collection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("knowledge.editions.grouping.MOST_EDITIONS", 3)
    for year in range(2020, 2024):
        page(collection, f"Fees {year}", f"fees-{year}")
    assert groups() == []


def test_what_tells_a_title_from_others_says_its_term_only_where_nothing_else_does(collection: Collection) -> None:
    own = {"metadata": {"own_title": "Fees SS 2026"}}
    address = page(collection, "Fees SS 2026 (en/chemistry2/ss-2026)", "en/chemistry2/ss-2026", **own)
    name = page(collection, "Fees (fees-sose-2026)", "download?id=7", metadata={"own_title": "Fees"})
    for document in (address, name):
        assert (document.edition.kind, str(document.edition.begins)) == ("summer", "2026-04-01")


@pytest.mark.parametrize(
    ("heading", "titles"),
    [
        ("Fees {term}", ["Fees SoSe 2026", "Fees WS 2025/26"]),
        # The title of the second one is told apart by its file's name, which is not its matter.
        ("Fees", ["Fees", "Fees (fees-sose-2026)"]),
    ],
)
def test_uploaded_files_of_several_terms_are_one_group(
    collection: Collection, tmp_path: Path, settings: Settings, heading: str, titles: list[str]
) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"
    for term, name in (("WS 2025/26", "fees-ws-2025-26"), ("SoSe 2026", "fees-sose-2026")):
        file, title = WordFile(), heading.format(term=term)
        file.core_properties.title = title
        file.add_heading(title, 1)
        for paragraph in TEXT.format(title=title, amount=len(name), day="1 October", unit="affairs").split("\n\n")[1:]:
            file.add_paragraph(paragraph.replace("\n", " "))
        file.save(str(tmp_path / f"{name}.docx"))
        sync_document(import_file(tmp_path / f"{name}.docx", collection=collection).document_id)
    assert groups() == [titles]
    assert not EditionGroup.objects.filter(title__contains="(").exists()


def test_uploaded_files_of_other_names_are_not(collection: Collection, tmp_path: Path, settings: Settings) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"
    for term, name in (("WS 2025/26", "physics-ws-2025-26"), ("SoSe 2026", "chemistry-sose-2026")):
        file = WordFile()
        file.core_properties.title = f"Fees {term}"
        file.add_paragraph(TEXT.format(title="", amount=len(name), day="1 October", unit="affairs"))
        file.save(str(tmp_path / f"{name}.docx"))
        sync_document(import_file(tmp_path / f"{name}.docx", collection=collection).document_id)
    assert groups() == []
