"""Pages that are pictures: read once, put into the document's text in their place, and told of where they are not."""

from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.translation import override
from pytest_django import Settings
from reportlab.lib.utils import ImageReader

from knowledge.ingest import recognition
from knowledge.ingest.file_importer import import_file
from knowledge.ingest.formats.types import BadFile, Said
from knowledge.ingest.ocr.types import ReadLine
from knowledge.ingest.recognition import complete_text, read_waiting
from knowledge.models import Collection, Correction, Document, PicturePage
from knowledge.services.documents import save_document
from knowledge.tasks import read_pictures
from tests.factories import CollectionFactory, is_indexed
from tests.knowledge import pdfs, scans
from tests.knowledge.pdfs import PROSE, pdf, text_pages
from tests.knowledge.scans import Reader, boxes

pytestmark = pytest.mark.django_db
State = PicturePage.State
PLAN = (
    "Im ersten Semester belegen alle Studie-",
    "renden die Mathematik für Anfänger.",
)


@pytest.fixture(autouse=True)
def media(tmp_path: Path, settings: Settings) -> Path:
    settings.MEDIA_ROOT = tmp_path / "media"
    return tmp_path / "media"


@pytest.fixture
def reader(monkeypatch: pytest.MonkeyPatch) -> Reader:
    reader = Reader(p2=boxes(PLAN))
    monkeypatch.setattr(recognition, "read_pictures", reader)
    return reader


def mixed() -> bytes:
    """Make three pages, of which the second is a plan as a picture below its heading."""
    first, third = text_pages(PROSE[0] * 3, PROSE[1] * 3)
    return pdf(first, scans.picture_page(scans.photographed("?"), "Studienverlaufsplan"), third)


def imported(tmp_path: Path, content: bytes, *, name: str = "plan.pdf", collection: Collection | None = None) -> Any:
    path = tmp_path / name
    path.write_bytes(content)
    return import_file(path, collection=collection or CollectionFactory())


def states(document: Document) -> dict[int, str]:
    return dict(document.picture_pages.values_list("page", "state"))


def test_a_picture_in_a_good_pdf_is_read_later_and_stands_on_its_page(tmp_path: Path, reader: Reader) -> None:
    result = imported(tmp_path, mixed())
    assert [str(said) for said in result.remarks] == ["1 of 3 pages are pictures of text and are being read by OCR: 2"]
    document = Document.objects.get()
    assert PROSE[1] in document.text  # indexed at once
    assert states(document) == {2: State.WAITING}
    read_pictures()
    document.refresh_from_db()
    pages = document.text.split("<!-- page ")
    assert [page[:2].strip() for page in pages[1:]] == ["1", "2", "3"]
    assert "Studienverlaufsplan" in pages[2]
    assert "Im ersten Semester belegen alle Studierenden die Mathematik für Anfänger." in pages[2]
    assert PROSE[1] in pages[3]
    assert is_indexed(document)
    passage = document.passages.get(text__contains="Mathematik für Anfänger")
    assert passage.page in {1, 2}
    assert states(document) == {2: State.IN_TEXT}
    assert document.revisions.count() == 1


def test_a_page_is_read_once_whoever_asks_again(tmp_path: Path, reader: Reader) -> None:
    imported(tmp_path, mixed())
    assert [*read_waiting(seconds=60)] == [Document.objects.get().pk]
    assert [*read_waiting(seconds=60)] == []
    second = imported(tmp_path, mixed(), collection=CollectionFactory())  # the same file elsewhere
    assert second.remarks == ()
    assert states(Document.objects.get(pk=second.document_id)) == {2: State.IN_TEXT}
    assert reader.asked == [2]
    texts = Document.objects.values_list("text", flat=True)
    assert len(set(texts)) == 1


def test_what_was_read_before_a_stop_is_kept(tmp_path: Path, reader: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    reader.by_page = {page: boxes([f"Absatz {page} der Ordnung gilt für alle Studierenden."]) for page in (1, 2, 3)}
    imported(tmp_path, pdf(*[scans.picture_page(scans.photographed("?"))] * 3))
    document = Document.objects.get()
    assert document.text == ""
    assert [*read_waiting(seconds=-1)] == []  # time for one page
    assert states(document) == {1: State.READ, 2: State.WAITING, 3: State.WAITING}
    assert [*read_waiting(seconds=60)] == [document.pk]
    assert reader.asked == [1, 2, 3]
    document.refresh_from_db()
    assert [f"Absatz {page} der Ordnung" in document.text for page in (1, 2, 3)] == [True] * 3


def test_two_columns_are_read_one_after_the_other(tmp_path: Path, reader: Reader) -> None:
    left = [f"Links steht in Zeile {number} ein langer Satz" for number in range(8)]
    right = [f"Rechts steht in Zeile {number} ein langer Satz" for number in range(8)]
    reader.by_page = {1: [*boxes(right, x=0.53, width=0.36, top=0.302), *boxes(left, x=0.1, width=0.36)]}
    imported(tmp_path, pdf(scans.picture_page(scans.photographed("?"))))
    list(read_waiting(seconds=60))
    text = " ".join(Document.objects.get().text.split())
    assert f"{' '.join(left)} {' '.join(right)}" in text.replace("\n", " ")


def test_two_lines_in_a_box_stay_two_beside_a_line_at_half_their_height(tmp_path: Path, reader: Reader) -> None:
    plan = [
        *boxes(["Einführung in die", "Wirtschaftsinformatik"], x=0.2, width=0.15),
        ReadLine("Programmierung", 0.4, 0.302, 0.5, 0.334),
        *boxes(["Einführung in die BWL,", "Investition"], x=0.75, width=0.12, top=0.299),
    ]
    reader.by_page = {1: plan}
    imported(tmp_path, pdf(scans.picture_page(scans.photographed("?"))))
    list(read_waiting(seconds=60))
    text = Document.objects.get().text
    assert all(line.text in text for line in plan)


def test_what_cannot_be_read_is_told_of_on_the_documents_page(
    tmp_path: Path, reader: Reader, admin_client: Client
) -> None:
    reader.by_page = {1: Said("its picture is damaged ({error})", {"error": "ValueError"}), 3: boxes(PLAN)}
    imported(tmp_path, pdf(*[scans.picture_page(scans.photographed("?"))] * 3))
    read_pictures()
    document = Document.objects.get()
    assert states(document) == {1: State.LEFT_OUT, 2: State.EMPTY, 3: State.IN_TEXT}
    page = reverse("admin:knowledge_document_change", args=[document.pk])
    said = " ".join(admin_client.get(page).content.decode().split())
    assert "Left out</dt> <dd> page 1 : its picture is damaged (ValueError)" in said
    assert "No text found</dt> <dd> page 2" in said
    assert "Read by OCR</dt> <dd> page 3" in said
    assert "page 3 · read by OCR" in said  # a passage of it
    with override("de"):
        german = " ".join(admin_client.get(page, headers={"Accept-Language": "de"}).content.decode().split())
    assert "Ausgelassen</dt> <dd> Seite 1 : ihr Bild ist beschädigt (ValueError)" in german
    listed = reverse("admin:knowledge_document_changelist")
    for value, count in (("left_out", 1), ("read", 1), ("waiting", 0)):
        assert admin_client.get(listed, {"pictures": value}).context["cl"].result_count == count


def test_without_the_extra_staff_are_told_and_a_later_installation_reads_it(
    tmp_path: Path, reader: Reader, admin_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    scans.remove_ocr(monkeypatch)
    result = imported(tmp_path, mixed())
    assert [str(said) for said in result.remarks] == ["1 of 3 pages are pictures of text and were left out: 2"]
    document = Document.objects.get()
    read_pictures()
    assert (reader.asked, states(document)) == ([], {2: State.WAITING})
    page = reverse("admin:knowledge_document_change", args=[document.pk])
    said = " ".join(admin_client.get(page).content.decode().split())
    assert "Left out</dt> <dd> page 2 : OCR is not installed here" in said
    listed = reverse("admin:knowledge_document_changelist")
    for value, count in (("left_out", 1), ("waiting", 0)):
        assert admin_client.get(listed, {"pictures": value}).context["cl"].result_count == count
    with pytest.raises(BadFile, match="it was scanned: 1 of 1 pages"):
        imported(tmp_path, pdf(scans.picture_page(scans.photographed("?"))), name="scan.pdf")
    monkeypatch.undo()
    monkeypatch.setattr(recognition, "read_pictures", reader)
    assert [*read_waiting(seconds=60)] == [document.pk]


def test_a_correction_of_staff_is_joined_with_what_was_read(tmp_path: Path, reader: Reader) -> None:
    imported(tmp_path, mixed())
    document = Document.objects.get()
    read = document.text
    document.text += "\n\nBy hand."
    save_document(document=document)
    assert [*read_waiting(seconds=60)] == [document.pk]
    document.refresh_from_db()
    assert document.text.endswith("By hand.")
    assert len(document.text) > len(read) + 40
    assert states(document) == {2: State.IN_TEXT}
    assert Correction.objects.get(document=document).text != read  # the original is what the file says now


def test_another_file_and_a_file_that_is_gone_end_the_waiting(tmp_path: Path, reader: Reader, media: Path) -> None:
    collection, url = CollectionFactory(), "https://www.uni.example/plan.pdf"
    for number, content in enumerate((mixed(), pdf(*text_pages(PROSE[0] * 3)), mixed())):
        path = tmp_path / f"{number}.pdf"
        path.write_bytes(content)
        import_file(path, collection=collection, url=url)
        assert states(Document.objects.get()) == ({} if number == 1 else {2: State.WAITING})
    document = Document.objects.get()
    Path(document.file.path).unlink()
    assert [*read_waiting(seconds=60)] == []
    assert document.picture_pages.get().reason["template"] == recognition.GONE
    assert not complete_text(document.pk)


def test_what_was_recognised_is_no_correction(tmp_path: Path, reader: Reader) -> None:
    imported(tmp_path, mixed())
    list(read_waiting(seconds=60))
    document = Document.objects.get()
    assert document.read_hash == document.content_hash
    assert not Correction.objects.exists()


def test_a_plan_that_does_not_fill_its_page_is_a_picture_of_text_where_hardly_a_line_stands_beside_it(
    tmp_path: Path, reader: Reader
) -> None:
    plan = ImageReader(scans.photographed("?"))

    def alone(sheet: pdfs.Sheet) -> None:
        sheet.line("Dieser Entwurf wurde am Dienstag, dem 17. September 2019, um 10 Uhr für das Prüfungsamt erzeugt.")
        sheet.heading("Studienverlaufsplan")
        sheet.canvas.drawImage(plan, 70, 320, 440, 340)

    def cover(sheet: pdfs.Sheet) -> None:
        sheet.canvas.drawImage(plan, 70, 320, 440, 340)
        sheet.heading("Handbuch der Module")
        sheet.paragraph(" ".join(PROSE[:2]))

    imported(tmp_path, pdf(alone, cover, *text_pages(PROSE[2])))
    assert states(Document.objects.get()) == {1: State.WAITING}


def test_a_slide_with_a_backdrop_and_a_logo_are_no_pictures_of_text(tmp_path: Path, reader: Reader) -> None:
    backdrop = scans.photographed("?")

    def slide(sheet: pdfs.Sheet) -> None:
        scans.picture_page(backdrop)(sheet)
        sheet.paragraph(PROSE[0])

    def logo(sheet: pdfs.Sheet) -> None:
        sheet.canvas.drawInlineImage(backdrop, 50, 700, 90, 90)
        sheet.paragraph(PROSE[1])

    imported(tmp_path, pdf(slide, logo))
    assert states(Document.objects.get()) == {}
