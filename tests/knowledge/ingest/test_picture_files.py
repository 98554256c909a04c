"""Picture files: read by OCR as a scanned page is, and told of where nothing reads them."""

import io
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from pytest_django import Settings

from knowledge.ingest import recognition
from knowledge.ingest.file_importer import import_file
from knowledge.ingest.formats.picture_files import is_photograph, on_paper, open_picture
from knowledge.ingest.formats.types import BadFile, NoText
from knowledge.models import Document, PicturePage
from knowledge.tasks import read_pictures
from tests.factories import CollectionFactory, is_indexed
from tests.knowledge import scans
from tests.knowledge.scans import Reader, boxes

State = PicturePage.State
PLAN = ("Im ersten Semester belegen alle Studie-", "renden die Mathematik für Anfänger.")


@pytest.fixture
def reader(monkeypatch: pytest.MonkeyPatch, settings: Settings, tmp_path: Path) -> Reader:
    settings.MEDIA_ROOT = tmp_path / "media"
    reader = Reader(p1=boxes(PLAN))
    monkeypatch.setattr(recognition, "read_pictures", reader)
    return reader


def imported(tmp_path: Path, content: bytes, name: str = "Studienplan.png", **options: Any) -> Any:
    path = tmp_path / name
    path.write_bytes(content)
    return import_file(path, collection=CollectionFactory(), **options)


@pytest.mark.django_db
@pytest.mark.parametrize(("kind", "ending"), [("PNG", "png"), ("JPEG", "jpg"), ("JPEG", "JPEG"), ("WEBP", "webp")])
def test_a_picture_is_a_document_that_ocr_completes(tmp_path: Path, reader: Reader, kind: str, ending: str) -> None:
    result = imported(tmp_path, scans.file_of(scans.photographed("?"), kind), f"Studienplan.{ending}")
    assert [str(said) for said in result.remarks] == ["it is a picture, which is being read by OCR"]
    read_pictures()
    document = Document.objects.get()
    assert document.text.strip() == "Im ersten Semester belegen alle Studierenden die Mathematik für Anfänger."
    assert (document.title, document.language) == ("Studienplan", "de")
    assert document.picture_pages.get().state == State.IN_TEXT
    assert is_indexed(document)
    assert document.passages.get().page is None


@pytest.mark.django_db
def test_without_ocr_a_picture_is_refused(tmp_path: Path, reader: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    scans.remove_ocr(monkeypatch)
    with pytest.raises(BadFile, match=r"Studienplan\.png: it is a picture: what it says can be read only where OCR"):
        imported(tmp_path, scans.file_of(scans.photographed("?")))
    assert not Document.objects.exists()


@pytest.mark.django_db
def test_what_shows_no_text_or_cannot_be_read_is_refused(tmp_path: Path, reader: Reader) -> None:
    photograph = scans.file_of(scans.photograph(), "JPEG")
    with pytest.raises(NoText, match="looks like a photograph"):
        imported(tmp_path, photograph, "campus.jpg", refuse_photographs=True)
    with pytest.raises(NoText, match="it is a picture of 90 × 90 pixels, too small"):
        imported(tmp_path, scans.file_of(Image.new("L", (90, 90))), "logo.png")
    with pytest.raises(BadFile, match="damaged"):
        imported(tmp_path, b"\x89PNG\r\n\x1a\n no picture")
    with pytest.raises(BadFile, match="it has 11000 × 11000 pixels; 100 million are allowed"):
        imported(tmp_path, scans.file_of(Image.new("1", (11_000, 11_000))))
    assert not Document.objects.exists()
    imported(tmp_path, photograph, "campus.jpg")  # somebody chose it


@pytest.mark.parametrize("ground", ["white", "#dde8ff", "#202020"])
def test_paper_and_slides_have_a_ground(ground: str) -> None:
    slip = Image.new("RGB", (700, 500), ground)
    slip.paste(scans.photographed(*scans.GERMAN).resize((400, 200)), (60, 60))
    assert not is_photograph(opened(slip))
    assert is_photograph(opened(scans.photograph()))


def opened(picture: Image.Image) -> Image.Image:
    return open_picture(io.BytesIO(scans.file_of(picture)))


def test_what_is_transparent_is_looked_at_on_white_and_what_lies_on_its_side_upright() -> None:
    ink = Image.new("RGBA", (600, 400), (0, 0, 0, 0))
    assert on_paper(opened(ink), pixels=10_000).getpixel((50, 40)) == (255, 255, 255)
    file = io.BytesIO()
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned by a quarter
    Image.new("RGB", (600, 400)).save(file, "JPEG", exif=exif)
    upright = on_paper(open_picture(file), pixels=1_000_000)
    assert (upright.width, upright.height) == (400, 600)
