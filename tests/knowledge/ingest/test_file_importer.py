"""Files as documents: `manage.py import_files`, and the address that their citations open."""

import urllib.request
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.files.storage import default_storage
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from chat.pipeline.retrieval.candidates import deep_link
from knowledge.ingest.file_importer import import_file
from knowledge.ingest.files import stored_name
from knowledge.ingest.formats.registry import FORMATS
from knowledge.models import Collection, Document, Passage
from tests.factories import CollectionFactory
from tests.knowledge import pdfs, scans
from tests.servers import Server


@pytest.fixture(autouse=True)
def media(tmp_path: Path, settings: Settings) -> Path:
    settings.MEDIA_ROOT = tmp_path / "media"
    return tmp_path / "media"


def run(*files: Path, **options: Any) -> tuple[str, list[str]]:
    """Run the command and return (its output, its errors)."""
    out, err = StringIO(), StringIO()
    call_command("import_files", *map(str, files), stdout=out, stderr=err, **options)
    return out.getvalue().strip(), [line for line in err.getvalue().splitlines() if line.strip()]


def write(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def state() -> list[Any]:
    documents = Document.objects.order_by("pk").values(
        "pk", "url", "title", "text", "file", "updated_at", "indexed__indexed_at"
    )
    return [*documents, *Passage.objects.order_by("pk").values("pk", "text", "page", "heading_path")]


@pytest.mark.django_db
def test_a_pdf_is_imported_with_its_pages_and_the_second_time_nothing_changes(tmp_path: Path, media: Path) -> None:
    path = write(tmp_path / "Handbuch für alle.pdf", pdfs.handbook())
    said, complaints = run(path, collection="letters")
    assert (said, complaints) == ("1 new, 0 changed, 0 unchanged, 0 with problems; 1 indexed.", [])
    document = Document.objects.get()
    kept = str(document.file)
    assert document.collection.slug == "letters"
    assert (kept[:10], kept[26:]) == ("documents/", "/Handbuch-für-alle.pdf")
    assert document.url.startswith("http://localhost:8000/documents/")
    assert document.url.isascii()
    assert (media / kept).read_bytes() == path.read_bytes()
    passages = list(document.passages.order_by("position"))
    about_exams = next(passage for passage in passages if "4.1 Details of exams" in passage.heading_path)
    assert about_exams.page == 4
    assert about_exams.heading_path == ["4 Section of exams", "4.1 Details of exams"]
    assert all(passage.page and "<!--" not in passage.text for passage in passages)
    assert deep_link(document.url, "Rule 9", about_exams.page) == f"{document.url}#page=4"
    before = state()
    assert run(path, collection="letters")[0] == "0 new, 0 changed, 1 unchanged, 0 with problems; 0 indexed."
    assert state() == before


@pytest.mark.django_db
def test_a_name_that_cannot_be_saved_stops_nothing(tmp_path: Path, media: Path) -> None:
    """Accept a link that ends in `%00.pdf`."""
    path = write(tmp_path / "1.pdf", pdfs.handbook())
    import_file(path, collection=CollectionFactory(), name="rules\x00.pdf")
    assert Document.objects.get().metadata["file_name"] == "rules.pdf"


@pytest.mark.django_db
def test_a_bad_file_is_one_line_and_the_others_are_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scans.remove_ocr(monkeypatch)
    good = write(tmp_path / "good.pdf", pdfs.handbook(2))
    cut = write(tmp_path / "cut.pdf", good.read_bytes()[:2000])
    scan = write(tmp_path / "scan.pdf", pdfs.scanned(1))
    said, complaints = run(cut, good, scan, tmp_path / "missing.pdf")
    assert said == "1 new, 0 changed, 0 unchanged, 3 with problems; 1 indexed."
    assert [line.split(":")[0] for line in complaints[:2]] == ["cut.pdf", "scan.pdf"]
    assert complaints[2].endswith("missing.pdf cannot be read: No such file or directory")
    assert Document.objects.count() == 1


@pytest.mark.django_db
def test_nothing_imported_is_an_error_and_leaves_nothing(
    tmp_path: Path, media: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scans.remove_ocr(monkeypatch)
    with pytest.raises(CommandError, match=r"Nothing was imported\."):
        run(write(tmp_path / "scan.pdf", pdfs.scanned(1)), collection="none")
    assert not Document.objects.exists()
    assert not Collection.objects.exists()
    assert not media.exists()


@pytest.mark.django_db
def test_an_address_of_its_own_is_updated_in_place(tmp_path: Path, media: Path) -> None:
    url = "https://www.uni.example/handbook.pdf"
    run(write(tmp_path / "a.pdf", pdfs.handbook(2)), urls=[url])
    said, _ = run(write(tmp_path / "a.pdf", pdfs.handbook(3)), urls=[url])
    assert said == "0 new, 1 changed, 0 unchanged, 0 with problems; 1 indexed."
    assert Document.objects.get().url == url
    assert len([path for path in media.rglob("*") if path.is_file()]) == 1
    assert "3 Section of lectures" in Document.objects.get().text


@pytest.mark.django_db
def test_a_new_edition_says_that_the_old_one_is_still_there(tmp_path: Path) -> None:
    run(write(tmp_path / "a.pdf", pdfs.handbook(2)))
    said, complaints = run(write(tmp_path / "a.pdf", pdfs.handbook(3)))
    assert said.startswith("1 new")
    assert complaints == [
        "a.pdf: another document from a file of this name is published; archive it if this one replaces it"
    ]


@pytest.mark.django_db
@pytest.mark.parametrize("urls", [["https://a.example/x", "https://a.example/y"], ["ftp://a.example/x"], ["nothing"]])
def test_addresses_that_do_not_fit_are_refused(tmp_path: Path, urls: list[str]) -> None:
    with pytest.raises(CommandError, match="--url"):
        run(write(tmp_path / "a.pdf", pdfs.handbook(2)), urls=urls)
    assert not Document.objects.exists()


@pytest.mark.parametrize("name", ["../../etc/passwd", "..pdf", "/", "a/b\\c.pdf", "x" * 300 + ".pdf", "\x00.pdf"])
def test_a_files_name_leads_nowhere_else(name: str) -> None:
    folder, digest, kept = stored_name("0123456789abcdef00", name, FORMATS[".pdf"]).split("/")
    assert (folder, digest) == ("documents", "0123456789abcdef")
    assert kept.endswith(".pdf")
    assert len(kept) <= 64
    assert kept[0] != "."


# --- the file's address ---


@pytest.fixture
def served(db: None, tmp_path: Path) -> Document:
    run(write(tmp_path / "a.pdf", pdfs.handbook(2)))
    return Document.objects.get()


def address(document: Document) -> str:
    return document.url.removeprefix("http://localhost:8000")


def test_a_published_file_is_served_as_nothing_but_a_pdf(served: Document, client: Client) -> None:
    page = client.get(address(served))
    assert b"".join(page.streaming_content) == Path(served.file.path).read_bytes()
    assert page["Content-Type"] == "application/pdf"
    assert page["X-Content-Type-Options"] == "nosniff"
    assert page["Content-Disposition"] == "inline"
    assert "default-src 'none'" in page["Content-Security-Policy"]
    assert not page.cookies


def test_only_published_files_are_served(served: Document, client: Client) -> None:
    for status in ("draft", "archived"):
        Document.objects.update(status=status)
        assert client.get(address(served)).status_code == 404
    assert client.get("/documents/0123456789abcdef/a.pdf").status_code == 404
    assert client.post(address(served)).status_code in {403, 405}


def test_a_viewer_gets_the_part_it_asks_for(served: Document, client: Client) -> None:
    whole = Path(served.file.path).read_bytes()

    def part(asked: str) -> tuple[int, bytes]:
        answer = client.get(address(served), headers={"Range": asked})
        return answer.status_code, b"".join(answer.streaming_content) if answer.streaming else answer.content

    assert part("bytes=0-9") == (206, whole[:10])
    assert part("bytes=100-") == (206, whole[100:])
    assert part("bytes=-7") == (206, whole[-7:])
    assert part("bytes=0-3,9-12") == part(f"bytes=0-{'9' * 5000}") == (200, whole)
    assert part("bytes=-0") == (416, b"")
    assert part(f"bytes={len(whole)}-") == (416, b"")
    assert (
        client.get(address(served), headers={"If-None-Match": client.get(address(served))["ETag"]}).status_code == 304
    )


def test_the_real_server_sends_it(server: Server, tmp_path: Path) -> None:
    run(write(tmp_path / "a.pdf", pdfs.handbook(2)))
    document = Document.objects.get()
    with urllib.request.urlopen(server.origin + address(document), timeout=10) as answer:
        assert answer.read() == Path(document.file.path).read_bytes()


def test_deleting_a_document_deletes_its_file(
    served: Document, admin_client: Client, django_capture_on_commit_callbacks: Callable[..., Any]
) -> None:
    kept = str(served.file)
    with django_capture_on_commit_callbacks(execute=True):
        admin_client.post(reverse("admin:knowledge_document_delete", args=[served.pk]), {"post": "yes"})
    assert not default_storage.exists(kept)
