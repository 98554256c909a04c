"""A form that was opened from another page returns there once it is saved, and nowhere outside this admin."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from core.admin.back import with_back
from tests.factories import DocumentFactory, FAQFactory
from tests.faqs.forms import build_form
from tests.knowledge.admin.test_documents import fill_form

pytestmark = pytest.mark.django_db
BACK = "/admin/contradictions/?state=open&p=2"


@pytest.fixture(autouse=True)
def _nothing_is_queued(monkeypatch: pytest.MonkeyPatch) -> None:
    for task in ("faqs.tasks.index_faq", "knowledge.tasks.index_document"):
        monkeypatch.setattr(f"{task}.delay", lambda *_ids: None)


def save_faq(client: Client, back: str, **data: Any) -> Any:
    faq = FAQFactory()
    address = with_back(reverse("admin:faqs_faq_change", args=[faq.pk]), back)
    return client.post(address, {**build_form(faq), **data})


def test_an_faq_and_a_page_return_with_the_message_of_success(admin_client: Client) -> None:
    assert save_faq(admin_client, BACK)["Location"] == BACK
    page = DocumentFactory()
    address = with_back(reverse("admin:knowledge_document_change", args=[page.pk]), BACK)
    for button in ("_save", "_to_draft", "_publish"):
        page.refresh_from_db()
        response = admin_client.post(address, {**fill_form(page), button: "1"})
        assert response["Location"] == BACK, button
    response = admin_client.get(BACK)
    assert "was changed successfully" in response.content.decode()


def test_a_new_faq_returns_too(admin_client: Client) -> None:
    data = build_form(FAQFactory.build(question="New?"))
    response = admin_client.post(with_back(reverse("admin:faqs_faq_add"), BACK), data)
    assert response["Location"] == BACK


def test_who_edits_further_still_returns_afterwards(admin_client: Client) -> None:
    response = save_faq(admin_client, BACK, _continue="1")
    assert response["Location"].endswith(with_back("/change/", BACK))


@pytest.mark.parametrize(
    "back",
    ["https://evil.example/admin/", "//evil.example/admin/", "/\\evil.example/admin/", "/chat/", "javascript:x", ""],
)
def test_no_address_leads_out_of_the_admin(admin_client: Client, back: str) -> None:
    assert save_faq(admin_client, back)["Location"] == reverse("admin:faqs_faq_changelist")
