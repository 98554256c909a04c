"""Two with one document's form open: two people, or one with two tabs."""

from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from knowledge.models import Document
from knowledge.services.documents import save_document, set_document_status
from tests.factories import CollectionFactory, DocumentFactory
from tests.sent import as_sent, pressed_by_enter

pytestmark = pytest.mark.django_db


def change_page(document: Document) -> str:
    return reverse("admin:knowledge_document_change", args=[document.pk])


def sent(page: HttpResponse, **changes: Any) -> dict[str, Any]:
    return as_sent(page, "document_form", **changes)


def save(client: Client, document: Document, **changes: Any) -> None:
    """Save as somebody does who opens the form now."""
    page = client.get(change_page(document))
    assert client.post(change_page(document), sent(page, **changes)).status_code == 302


def now(document: Document) -> Document:
    return Document.objects.get(pk=document.pk)


def compared(page: HttpResponse) -> list[str]:
    """Return the lines that were removed and added."""
    sign = {"removed": "-", "added": "+"}
    lines = page.context["conflict"].comparison.lines
    return [sign[line.kind] + "".join(part.text for part in line.parts) for line in lines if line.kind in sign]


def test_the_second_of_two_editors_sees_what_the_first_changed_and_loses_nothing(
    admin_client: Client, colleague: Client
) -> None:
    document = DocumentFactory(title="Fees", text="# Fees\n\nFour euros.", collection=CollectionFactory(name="Site"))
    opened = admin_client.get(change_page(document))
    faculty = CollectionFactory(name="Faculty")
    save(colleague, document, text="# Fees\n\nFive euros.", collection=faculty.pk, status="draft")
    page = admin_client.post(change_page(document), sent(opened, text="# Fees\n\nNo euros."))
    assert page.status_code == 200
    text = page.content.decode()
    assert "Somebody else saved this meanwhile" in text
    assert "colleague changed this on" in text
    assert "and the form has what you wrote: Text" in text
    assert compared(page) == [
        *("-Collection: Site", "-Status: published", "+Collection: Faculty", "+Status: draft"),
        *("-Four euros.", "+Five euros."),
    ]
    assert sent(page)["text"].strip() == "# Fees\n\nNo euros."
    assert now(document).text == "# Fees\n\nFive euros."


def test_what_was_shown_is_saved_with_both_changes(admin_client: Client, colleague: Client) -> None:
    document = DocumentFactory(title="Fees", text="Four euros.")
    opened = admin_client.get(change_page(document))
    long, scope = "\n".join(["Five euros."] * 1_000), ["programme:msc", "regulation:2024"]
    save(colleague, document, text=long, status="archived", audience=", ".join(scope))
    page = admin_client.post(change_page(document), sent(opened, title="Fees and dues"))
    assert pressed_by_enter(page, "document_form") == "_save"
    assert admin_client.post(change_page(document), sent(page)).status_code == 302
    saved = now(document)
    assert (saved.title, saved.text, saved.status) == ("Fees and dues", long, "archived")
    assert saved.audience == scope


@pytest.mark.parametrize("opened_with", ["", "{", "[]", "[" * 100_000])
def test_what_a_form_says_it_was_opened_with_need_not_be_so(
    admin_client: Client, colleague: Client, opened_with: str
) -> None:
    document = DocumentFactory(text="One.")
    opened = admin_client.get(change_page(document))
    save(colleague, document, text="Two.")
    page = admin_client.post(change_page(document), sent(opened, title="Mine") | {"opened": opened_with})
    assert page.status_code == 200
    assert now(document).text == "Two."


def test_a_third_change_is_shown_before_anything_is_saved(admin_client: Client, colleague: Client) -> None:
    document = DocumentFactory(text="One.")
    opened = admin_client.get(change_page(document))
    save(colleague, document, text="Two.")
    page = admin_client.post(change_page(document), sent(opened, title="Mine"))
    save(colleague, document, text="Three.")
    page = admin_client.post(change_page(document), sent(page))
    assert compared(page) == ["-Two.", "+Three."]
    assert now(document).title != "Mine"
    assert admin_client.post(change_page(document), sent(page)).status_code == 302
    assert (now(document).title, now(document).text) == ("Mine", "Three.")


def test_one_s_other_tab_is_no_somebody_else(admin_client: Client, colleague: Client) -> None:
    document = DocumentFactory(text="One.")
    save(colleague, document, text="Two.")
    opened = admin_client.get(change_page(document))
    save(admin_client, document, text="Three.")
    page = admin_client.post(change_page(document), sent(opened, text="Four."))
    assert "You saved it in another tab" in page.content.decode()
    assert sent(page)["text"].strip() == "Four."


def test_a_change_that_nobody_of_staff_made_is_nobody_s(admin_client: Client) -> None:
    document = DocumentFactory(text="One.")
    save(admin_client, document, text="Two.")
    opened = admin_client.get(change_page(document))
    crawled = now(document)
    crawled.text = "Crawled."
    save_document(document=crawled)
    page = admin_client.post(change_page(document), sent(opened, title="Mine"))
    assert "You saved it in another tab" not in page.content.decode()
    assert "This was changed on" in page.content.decode()


def test_a_status_that_was_set_meanwhile_is_kept(admin_client: Client) -> None:
    document = DocumentFactory(status="published")
    opened = admin_client.get(change_page(document))
    set_document_status(documents=[now(document)], status="archived")
    page = admin_client.post(change_page(document), sent(opened, title="Mine"))
    assert admin_client.post(change_page(document), sent(page)).status_code == 302
    assert (now(document).title, now(document).status) == ("Mine", "archived")


def test_a_save_that_changed_nothing_is_no_conflict(admin_client: Client, colleague: Client) -> None:
    document = DocumentFactory(metadata={"references": [{"url": "https://www.uni.example/"}], "b": 1, "a": "ä"})
    opened = admin_client.get(change_page(document))
    save(colleague, document)
    assert admin_client.post(change_page(document), sent(opened, title="Mine")).status_code == 302
    assert now(document).title == "Mine"


@pytest.mark.parametrize("seen", ["", "x", "2026-99-99T00:00:00+00:00"])
def test_a_form_that_does_not_say_what_it_was_opened_with_is_saved_once_looked_at(
    admin_client: Client, seen: str
) -> None:
    document = DocumentFactory(text="Theirs.")
    opened = sent(admin_client.get(change_page(document)), text="Mine.", seen=seen, opened="")
    page = admin_client.post(change_page(document), opened)
    assert compared(page) == ["+Theirs."]
    assert admin_client.post(change_page(document), sent(page)).status_code == 302
    assert now(document).text == "Mine."


def test_what_was_written_into_a_deleted_document_can_be_saved_anew(admin_client: Client) -> None:
    document = DocumentFactory(text="Theirs.")
    address, opened = change_page(document), admin_client.get(change_page(document))
    document.delete()
    page = admin_client.post(address, sent(opened, text="Mine."))
    assert "deleted while you worked on it" in page.content.decode()
    assert not Document.objects.exists()
    assert admin_client.post(address, sent(page)).status_code == 302
    assert Document.objects.get().text.strip() == "Mine."
