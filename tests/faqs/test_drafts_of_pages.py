"""An FAQ that links only drafts is not published, at whichever door."""

import pytest
from django.core.exceptions import ValidationError
from django.test import Client
from django.urls import reverse

from faqs.services import set_faq_status
from faqs.tasks import index_faq
from tests.factories import DocumentFactory, FAQFactory, UserFactory
from tests.faqs.forms import build_form
from tests.staff.api import Program

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _nothing_is_queued(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_faq, "delay", lambda _id: None)


def test_the_form_refuses_it_until_a_document_is_published(admin_client: Client) -> None:
    draft = DocumentFactory(status="draft")
    faq = FAQFactory(status="draft", documents=[draft])
    address = reverse("admin:faqs_faq_change", args=[faq.pk])
    page = admin_client.post(address, build_form(faq, status="published")).content.decode()
    assert "These documents are drafts: publish one of them first" in page
    more = build_form(faq, status="published", documents=[DocumentFactory()])
    assert admin_client.post(address, more).status_code == 302
    faq.refresh_from_db()
    assert faq.status == "published"


def test_actions_and_the_staff_api_refuse_it() -> None:
    faq = FAQFactory(status="draft", documents=[DocumentFactory(status="draft")])
    with pytest.raises(ValidationError, match="links only drafts"):
        set_faq_status(faqs=[faq], status="published")
    program = Program(UserFactory(is_superuser=True))
    version = program.get(f"/faqs/{faq.pk}/").json()["version"]
    assert program.post(f"/faqs/{faq.pk}/publish/", {"version": version}).status_code == 400
    faq.refresh_from_db()
    assert faq.status == "draft"


def test_an_answer_of_its_own_is_enough() -> None:
    signed = {"answer_en": "By card.", "office_en": "Student Service Centre"}
    faq = FAQFactory(status="draft", documents=[DocumentFactory(status="draft")], **signed)
    assert set_faq_status(faqs=[faq], status="published") == 1


def test_the_staff_api_publishes_documents_unless_it_is_told_not_to() -> None:
    program = Program(UserFactory(is_superuser=True))
    collection = DocumentFactory().collection.slug
    page = {"collection": collection, "title": "Fees", "language": "en", "text": "10 euros."}
    for number, (more, status) in enumerate((({}, "published"), ({"status": "draft"}, "draft"))):
        given = {**page, "url": f"https://www.uni.example/fees-{number}", **more}
        assert program.post("/documents/", given).json()["status"] == status
