"""Staff see what was corrected, go back to what was read, and decide where its source changed too."""

import time
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import translation

from analytics.contradictions.listing import CORRECTED
from core.hashing import fingerprint
from knowledge.ingest.importer import document_record, import_records
from knowledge.models import Correction, Document
from knowledge.services.corrections import read_corrected
from knowledge.services.documents import save_document
from tests.factories import CollectionFactory, DocumentFactory, UserFactory
from tests.sent import as_sent, pressed_by_enter

pytestmark = pytest.mark.django_db

PAGE = "# Fees\n\nThe fee is 30 euros.\n\nPay it online.\n\nThere is no late fee.\n\nWrite to the office.\n"
SCRIPT = "<script>alert(1)</script>"
CHANGES = ["knowledge.view_document", "knowledge.change_document"]


@pytest.fixture(autouse=True)
def _nothing_is_queued(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.tasks.Task.delay_on_commit", lambda *_args: None)


@pytest.fixture
def client() -> Client:
    client = Client()
    client.force_login(UserFactory(username="ada", permissions=CHANGES))
    return client


def read(document: Document, text: str) -> None:
    record = document_record({"url": document.url, "title": "Fees", "text": text})
    import_records([(1, record)], collection=document.collection)


def corrected(new: str = "300 euros", page: str = PAGE) -> Document:
    document: Document = DocumentFactory.build(collection=CollectionFactory())
    read(document, page)
    document = Document.objects.get(url=document.url)
    document.text = document.text.replace("30 euros", new)
    return save_document(document=document)


def in_conflict(new: str = "300 euros") -> Document:
    document = corrected(new)
    read(document, PAGE.replace("30 euros", "40 euros").replace("no late fee", "a late fee"))
    return Document.objects.get(pk=document.pk)


def url(document: Document, name: str = "change") -> str:
    return reverse(f"admin:knowledge_document_{name}", args=[document.pk])


def sent(document: Document, step: str, **values: str) -> dict[str, str]:
    return {"step": step, "state": read_corrected(document).state, **values}


def shown(response: HttpResponse) -> str:
    return " ".join(response.content.decode().split())


def logged(document: Document) -> str:
    return LogEntry.objects.filter(object_id=str(document.pk)).latest("pk").get_change_message()


def test_an_edit_in_the_form_is_a_correction_that_the_page_and_the_list_tell_of(client: Client) -> None:
    document: Document = DocumentFactory(title="Fees", text=PAGE, read_hash=fingerprint("Fees", PAGE))
    page = client.get(url(document))
    assert "Corrected by staff" not in shown(page)
    edited = as_sent(page, "document_form", text=PAGE.replace("30 euros", "300 euros").replace("\n", "\r\n"))
    assert client.post(url(document), edited).status_code == 302
    page = client.get(url(document))
    assert ", by ada." in shown(page)
    assert '<span class="diff__words">300</span>' in shown(page)
    assert pressed_by_enter(page, "document_form") != ""
    listed = client.get(reverse("admin:knowledge_document_changelist"), {"corrected": "yes"})
    assert "corrected by staff on" in shown(listed)
    assert "0 documents" in shown(client.get(reverse("admin:knowledge_document_changelist"), {"corrected": "conflict"}))


def test_one_press_goes_back_to_what_was_read(client: Client) -> None:
    document = corrected()
    page = client.get(url(document))
    data = as_sent(page, "back-to-original")
    assert client.post(url(document, "original"), {"correction_state": "older"}).status_code == 302
    assert Document.objects.get(pk=document.pk).text == document.text
    client.post(url(document, "original"), data)
    assert "30 euros" in Document.objects.get(pk=document.pk).text
    assert not Correction.objects.exists()
    assert logged(document) == "went back to the text as it was read"


def test_a_conflict_shows_all_three_and_is_decided_for_the_correction(client: Client) -> None:
    document = in_conflict()
    page = shown(client.get(url(document, "correction")))
    assert "The fee is <mark>300</mark> euros." in page
    assert "The fee is <mark>40</mark> euros." in page
    assert "As it was read" in page
    assert "One more change, which touches no other" in page
    assert client.post(url(document, "correction"), sent(document, "keep")).status_code == 302
    document.refresh_from_db()
    assert "300 euros" in document.text
    assert "a late fee" in document.text
    assert (Correction.objects.get().is_conflict, logged(document)) == (False, "kept its correction")


def test_a_conflict_is_decided_for_the_new_text(client: Client) -> None:
    document = in_conflict()
    client.post(url(document, "correction"), sent(document, "take"))
    document.refresh_from_db()
    assert "40 euros" in document.text
    assert not Correction.objects.exists()
    assert "took the new text" in logged(document)
    assert client.get(url(document, "correction")).url == url(document)  # type: ignore[attr-defined]


def test_a_conflict_is_decided_for_words_of_ones_own(client: Client) -> None:
    document = in_conflict()
    empty = client.post(url(document, "correction"), sent(document, "save", title="Fees", text=""))
    assert empty.status_code == 200
    client.post(url(document, "correction"), sent(document, "save", title="Fees", text="It is 310.\r\n\r\nPay."))
    document.refresh_from_db()
    assert document.text == "It is 310.\n\nPay."
    assert not Correction.objects.get().is_conflict


def test_of_two_who_decide_nothing_of_the_second_is_lost(client: Client) -> None:
    document = in_conflict()
    second = sent(document, "save", title="Fees", text="What the second one wrote.")
    pressed = sent(document, "take")
    client.post(url(document, "correction"), sent(document, "keep"))
    kept = Document.objects.get(pk=document.pk).text
    page = client.post(url(document, "correction"), second)
    assert page.status_code == 200
    assert "Somebody else was faster" in shown(page)
    assert "What the second one wrote." in shown(page)
    assert client.post(url(document, "correction"), pressed).status_code == 302
    assert Document.objects.get(pk=document.pk).text == kept
    present = Document.objects.get(pk=document.pk)
    again = sent(present, "save", title="Fees", text="What the second one wrote.")
    assert f'value="{again["state"]}"' in shown(page)
    client.post(url(document, "correction"), again)
    assert Document.objects.get(pk=document.pk).text == "What the second one wrote."


def test_a_conflict_stands_in_the_lists_of_what_is_to_do(client: Client) -> None:
    document = in_conflict()
    listed = shown(client.get(reverse("contradictions"), {"kind": CORRECTED}))
    assert url(document, "correction") in listed
    assert url(document, "correction") in shown(client.get(reverse("contradictions")))
    assert "1 corrected page changed at its source" in shown(client.get(reverse("admin:index")))
    documents = client.get(reverse("admin:knowledge_document_changelist"), {"corrected": "conflict"})
    assert url(document, "correction") in shown(documents)
    client.post(url(document, "correction"), sent(document, "take"))
    assert url(document, "correction") not in shown(client.get(reverse("contradictions")))


def test_the_list_reads_no_text_and_asks_as_often_for_many(client: Client) -> None:
    address = reverse("admin:knowledge_document_changelist")
    in_conflict()
    client.get(address)
    with CaptureQueriesContext(connection) as few:
        client.get(address)
    for _ in range(3):
        in_conflict()
    with CaptureQueriesContext(connection) as many:
        client.get(address)
    assert len(many) == len(few)
    assert not [each for each in many if '"knowledge_correction"."new_text"' in each["sql"]]


def test_who_only_views_sees_it_and_decides_nothing() -> None:
    document, reader = in_conflict(), Client()
    reader.force_login(UserFactory(permissions=["knowledge.view_document"]))
    page = shown(reader.get(url(document, "correction")))
    assert "As it was read" in page
    assert "Take the new text" not in page
    for name in ("correction", "original"):
        assert reader.post(url(document, name), sent(document, "take")).status_code == 403
    foreign = Client()
    foreign.force_login(UserFactory(permissions=CHANGES, teams=[]))
    assert foreign.get(url(document, "correction")).status_code == 404
    assert Document.objects.get(pk=document.pk).text == document.text


def test_nothing_of_a_hostile_text_runs(client: Client) -> None:
    document = in_conflict(SCRIPT)
    for page in (client.get(url(document, "correction")), client.get(url(document))):
        assert SCRIPT not in page.content.decode()
    hostile = corrected(SCRIPT)
    page = client.get(url(hostile)).content.decode()
    assert SCRIPT not in page
    assert "&lt;" in page


def test_it_is_said_in_german(client: Client) -> None:
    document = in_conflict()
    client.cookies.load({"django_language": "de"})
    headers: Any = {"HTTP_ACCEPT_LANGUAGE": "de"}
    with translation.override("de"):
        page = shown(client.get(url(document, "correction"), **headers))
        form = shown(client.get(url(document), **headers))
    assert "Die Berichtigung behalten" in page
    assert "Wie gelesen" in page
    assert "Vergleichen und entscheiden" in form


@pytest.mark.timeout(120)
def test_half_a_megabyte_is_shown_in_seconds(client: Client) -> None:
    lines = [f"Paragraph {n} of a handbook says what it says, and says it at length.\n\n" for n in range(8_000)]
    document = corrected(page=f"It is 30 euros.\n\n{''.join(lines)}")
    new = "".join(line.replace("says", "tells") if n % 3 == 0 else line for n, line in enumerate(lines))
    read(document, f"It is 40 euros.\n\n{new}")
    assert len(document.text) > 500_000
    for name in ("correction", "change"):
        started = time.monotonic()
        assert client.get(url(document, name)).status_code == 200
        assert time.monotonic() - started < 20  # it takes a tenth of that on a machine at rest
