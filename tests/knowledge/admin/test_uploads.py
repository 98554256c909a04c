"""PDFs that staff hand in, and what they are told of each."""

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from django.contrib.admin.models import LogEntry
from django.core.files.storage import FileSystemStorage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import override
from pytest_django import Settings

from knowledge.ingest.file_importer import import_file, import_upload, lost_uploads
from knowledge.ingest.formats.registry import FORMATS
from knowledge.models import Collection, Document, Passage, PdfUpload
from knowledge.services.documents import read_files_again, save_document
from knowledge.tasks import import_pending_uploads, import_uploaded_file
from tests.factories import CollectionFactory, DocumentFactory, UserFactory, is_indexed
from tests.knowledge import offices, pdfs, scans

UPLOAD, LIST = "admin:knowledge_pdfupload_add", "admin:knowledge_pdfupload_changelist"


@pytest.fixture(autouse=True)
def media(tmp_path: Path, settings: Settings) -> Path:
    settings.MEDIA_ROOT = tmp_path / "media"
    return tmp_path / "media"


@pytest.fixture
def queued(monkeypatch: pytest.MonkeyPatch) -> Mock:
    delay = Mock()
    monkeypatch.setattr(import_uploaded_file, "delay", delay)
    return delay


def upload(client: Client, collection: Collection, **files: bytes) -> Any:
    sent = [SimpleUploadedFile(f"{name}.pdf", content, "application/pdf") for name, content in files.items()]
    return client.post(reverse(UPLOAD), {"documents": sent, "collection": collection.pk})


def test_several_files_are_handed_in_and_each_is_told_of(
    admin_client: Client,
    queued: Mock,
    django_capture_on_commit_callbacks: Callable[..., Any],
    media: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scans.remove_ocr(monkeypatch)
    with django_capture_on_commit_callbacks(execute=True):
        answer = upload(admin_client, CollectionFactory(), good=pdfs.handbook(2), scan=pdfs.scanned(2))
    assert answer.status_code == 302
    ids = [call.args[0] for call in queued.call_args_list]
    assert len(ids) == 2
    waiting = admin_client.get(reverse(LIST))
    assert waiting["Refresh"]
    assert waiting.content.decode().count("Waiting") == 2
    for upload_id in ids:
        import_uploaded_file(upload_id)
    page = admin_client.get(reverse(LIST))
    assert "Refresh" not in page.headers
    document = Document.objects.get()
    assert is_indexed(document)
    assert f'<a href="{reverse("admin:knowledge_document_change", args=[document.pk])}">' in page.content.decode()
    assert "2 of 2 pages are pictures without a text layer" in page.content.decode()
    with override("de"):
        german = admin_client.get(reverse(LIST), headers={"Accept-Language": "de"}).content.decode()
    assert "2 von 2 Seiten sind Bilder ohne Textebene" in german
    assert not list((media / "uploads").iterdir())
    for upload_id in ids:  # delivered twice
        import_uploaded_file(upload_id)
    assert Document.objects.count() == 1


def test_what_is_no_pdf_or_too_large_is_refused_at_once(
    admin_client: Client, queued: Mock, settings: Settings, media: Path
) -> None:
    settings.PDF_MAX_MEGABYTES = 1
    answer = upload(admin_client, CollectionFactory(), page=b"<html>", large=b"%PDF-" + b"x" * 1_000_001)
    said = answer.content.decode()
    assert "page.pdf: its name ends in .pdf, but it is a .html file: rename it." in said
    assert "large.pdf: it is larger than the limit of 1 MB." in said
    assert not PdfUpload.objects.exists()
    assert not (media / "uploads").exists()


@pytest.mark.parametrize(
    ("make", "name", "expected"),
    [
        (offices.encrypted, "a.xlsx", "it opens with a password only: save it without one."),
        (lambda: offices.encrypted()[:512] + bytes(2_000_000) + offices.encrypted()[512:], "a.docx", "a password only"),
        (lambda: offices.encrypted()[:512] + bytes(600), "a.docx", "it is of an old format, whatever its name ends in"),
        (lambda: pdfs.handbook(2), "a.docx", "its name ends in .docx, but it is a .pdf file: rename it."),
        (offices.word, "a.pdf", "its name ends in .pdf, but it is no such file."),
        (lambda: b"MZ", "a.xlsm", "it may hold macros (.xlsm): save it as .xlsx"),
        (lambda: b"", "a.docx", "The submitted file is empty."),
    ],
)
def test_an_office_file_that_is_none_is_refused_at_once_with_what_to_do(
    admin_client: Client, queued: Mock, make: Callable[[], bytes], name: str, expected: str
) -> None:
    sent = SimpleUploadedFile(name, make())
    said = admin_client.post(reverse(UPLOAD), {"documents": [sent], "collection": CollectionFactory().pk})
    assert f"{name}: " in said.content.decode()
    assert expected in said.content.decode()
    assert not PdfUpload.objects.exists()


def test_office_files_are_handed_in_and_each_is_told_of(
    admin_client: Client, queued: Mock, django_capture_on_commit_callbacks: Callable[..., Any], settings: Settings
) -> None:
    files = {
        "good.docx": offices.word(),
        "good.pptx": offices.slides(),
        "good.xlsx": offices.workbook(),
        "good.odt": offices.open_text(),
        "good.rtf": offices.rich_text(),
        "linked.docx": offices.linked(),
        "macro.docx": offices.with_part(offices.word(), "word/vbaProject.bin", b"x"),
        "bomb.docx": offices.bomb(310_000_000),
        "long.xlsx": offices.long_list(100_000),
    }
    sent = [SimpleUploadedFile(name, content) for name, content in files.items()]
    with django_capture_on_commit_callbacks(execute=True):
        answer = admin_client.post(reverse(UPLOAD), {"documents": sent, "collection": CollectionFactory().pk})
    assert answer.status_code == 302
    for call in queued.call_args_list:
        import_uploaded_file(call.args[0])
    shown = admin_client.get(reverse(LIST)).content.decode()
    assert Document.objects.count() == 6
    assert "it takes content from elsewhere, which was not fetched" in shown
    assert "it holds macros, which could harm whoever opens it: save it without them, as .docx" in shown
    assert "unpacked it has 310 MB; 300 are allowed" in shown
    assert "it has more than 20000 rows" in shown


def test_a_passage_of_an_office_file_stands_under_its_slide_or_sheet(
    admin_client: Client, queued: Mock, django_capture_on_commit_callbacks: Callable[..., Any]
) -> None:
    files = {"plan.pptx": offices.slides(), "hours.xlsx": offices.workbook()}
    sent = [SimpleUploadedFile(name, content) for name, content in files.items()]
    with django_capture_on_commit_callbacks(execute=True):
        admin_client.post(reverse(UPLOAD), {"documents": sent, "collection": CollectionFactory().pk})
    for call in queued.call_args_list:
        import_uploaded_file(call.args[0])
    headings = {passage.heading for passage in Passage.objects.all()}
    assert {"Folie 2: Anmeldung", "Folie 3: Termine", "Prüfungstermine", "Öffnungszeiten"} <= headings


def test_who_may_not_add_documents_may_not_upload(client: Client, db: None, queued: Mock) -> None:
    collection = CollectionFactory()
    client.force_login(UserFactory(permissions=["knowledge.view_document"]))
    assert client.get(reverse(UPLOAD)).status_code == 403
    assert upload(client, collection, good=pdfs.handbook(2)).status_code == 403
    assert client.get(reverse(LIST)).status_code == 403
    client.force_login(UserFactory(permissions=["knowledge.add_document"]))
    assert client.get(reverse(UPLOAD)).status_code == 200
    assert upload(client, collection, good=pdfs.handbook(2)).status_code == 302


def test_on_a_full_disk_nothing_is_kept_and_staff_read_what_to_do(
    admin_client: Client, queued: Mock, media: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save = FileSystemStorage._save

    def save_until_full(self: FileSystemStorage, name: str, content: Any) -> str:
        kept = save(self, name, content)
        if len(list(media.rglob("*.pdf"))) > 1:
            os.truncate(self.path(kept), 1000)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return kept

    monkeypatch.setattr(FileSystemStorage, "_save", save_until_full)
    answer = upload(admin_client, CollectionFactory(), good=pdfs.handbook(2), better=pdfs.handbook(3))
    assert answer.status_code == 200
    assert "its disk may be full" in answer.content.decode()
    assert not list(media.rglob("*.pdf"))
    assert not PdfUpload.objects.exists()
    queued.assert_not_called()


@pytest.mark.django_db
@pytest.mark.parametrize("minutes", [-10, 60], ids=["long ago", "the clock was set back"])
def test_an_upload_whose_task_was_lost_is_picked_up(queued: Mock, minutes: int) -> None:
    one = PdfUpload(name="a.pdf", collection=CollectionFactory(), status=PdfUpload.Status.READING)
    one.file.save("a.pdf", SimpleUploadedFile("a.pdf", pdfs.handbook(2)))
    assert lost_uploads() == []
    assert import_upload(one.pk) is None  # a task is reading it
    PdfUpload.objects.update(changed_at=timezone.now() + timezone.timedelta(minutes=minutes))
    import_pending_uploads()
    one.refresh_from_db()
    assert one.status == PdfUpload.Status.IMPORTED
    assert one.document == Document.objects.get()


@pytest.mark.django_db
def test_the_same_file_again_is_said_to_be_there(queued: Mock) -> None:
    collection = CollectionFactory()
    for expected in (PdfUpload.Status.IMPORTED, PdfUpload.Status.UNCHANGED):
        one = PdfUpload(name="a.pdf", collection=collection)
        one.file.save("a.pdf", SimpleUploadedFile("a.pdf", pdfs.handbook(2)))
        import_upload(one.pk)
        one.refresh_from_db()
        assert one.status == expected


def test_files_are_read_again_at_their_documents_and_what_is_told_of_them_is_shown(
    admin_client: Client,
    queued: Mock,
    django_capture_on_commit_callbacks: Callable[..., Any],
    tmp_path: Path,
    media: Path,
) -> None:
    address = "https://www.uni.example/download?id=7"  # as a crawl finds it: its name does not end as a file's
    path = tmp_path / "7.pdf"
    path.write_bytes(pdfs.pdf(scans.picture_page(scans.photographed("?"), "Plan"), *pdfs.text_pages(pdfs.PROSE[0] * 3)))
    document_id = import_file(
        path, collection=CollectionFactory(), name="download", url=address, kind=FORMATS[".pdf"]
    ).document_id
    document = Document.objects.get(pk=document_id)
    document.text += "\n\nBy hand."
    save_document(document=document)
    page = DocumentFactory()
    with django_capture_on_commit_callbacks(execute=True):
        chosen = {"action": "read_again", "_selected_action": [document_id, page.pk]}
        answer = admin_client.post(reverse("admin:knowledge_document_changelist"), chosen)
    assert answer.url == reverse(LIST)
    assert "1 file is being read again" in admin_client.get(reverse(LIST)).content.decode()
    import_uploaded_file(queued.call_args.args[0])
    shown = " ".join(admin_client.get(reverse(LIST)).content.decode().split())
    assert "1 of 2 pages are pictures of text and are being read by OCR: 1" in shown
    document.refresh_from_db()
    assert document.text.endswith("By hand.")
    assert (document.url, Document.objects.count()) == (address, 2)
    assert Path(document.file.path).exists()
    assert LogEntry.objects.filter(object_id=str(document_id), change_message="file read again").exists()


def test_a_document_without_a_file_is_not_read_again_and_one_whose_file_is_gone_is_told_of(
    admin_client: Client, queued: Mock, tmp_path: Path
) -> None:
    action = {"action": "read_again", "_selected_action": [DocumentFactory().pk]}
    page = admin_client.post(reverse("admin:knowledge_document_changelist"), action, follow=True).content.decode()
    assert "None of these documents comes from a file." in page
    path = tmp_path / "plan.pdf"
    path.write_bytes(pdfs.handbook(2))
    document = Document.objects.get(pk=import_file(path, collection=CollectionFactory()).document_id)
    Path(document.file.path).unlink()
    read_files_again(documents=[document])
    import_uploaded_file(PdfUpload.objects.get().pk)
    assert PdfUpload.objects.get().status == PdfUpload.Status.FAILED
    assert "the file is gone" in admin_client.get(reverse(LIST)).content.decode()
