"""Staff see what relied on a page that changed."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from chat.conversations.impact import find_impact, mark_verified, stale_documents
from chat.models import Message
from faqs.models import FAQ
from knowledge.models import Document
from knowledge.services.documents import restore_revision, save_document, set_document_status
from tests.factories import AnswerFactory, CitationFactory, DocumentFactory, FAQFactory, UserFactory
from tests.faqs.forms import seen

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _nothing_is_queued(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("knowledge.tasks.index_document.delay", lambda _id: None)


def relied_on(**values: Any) -> Document:
    """Create a document with an FAQ and an answer."""
    document: Document = DocumentFactory(**values)
    FAQFactory(question=f"About {document}?", status="published", documents=[document])
    CitationFactory(document=document)
    return document


def edit(document: Document, text: str = "Now it is something else.") -> None:
    document.text = text
    save_document(document=document)


def test_an_unchanged_page_is_on_no_list() -> None:
    document = relied_on()
    document.language = "de"
    save_document(document=document)
    assert list(stale_documents()) == []
    assert not find_impact(document).faqs.exists()


@pytest.mark.parametrize("change", ["edit", "archive"])
def test_a_page_that_changed_or_went_is_listed_with_what_relied_on_it(change: str) -> None:
    document = relied_on()
    DocumentFactory(text="Unrelated.")
    if change == "edit":
        edit(document)
    else:
        set_document_status(documents=[document], status="archived")
    (listed,) = stale_documents()
    assert (listed.pk, listed.faq_count, listed.answer_count) == (document.pk, 1, 1)  # type: ignore[attr-defined]
    document.refresh_from_db()
    impact = find_impact(document)
    assert [str(faq) for faq in impact.faqs] == [f"About {document}?"]
    assert [answer.citations.get().document for answer in impact.answers] == [document]


@pytest.mark.parametrize("change", ["edit", "archive"])
def test_a_page_that_is_as_it_was_again_is_on_no_list(change: str) -> None:
    document = relied_on()
    faq, text, was = document.faqs.get(), document.text, document.status
    if change == "edit":
        edit(document)
        assert list(FAQ.objects.with_changed_sources()) == [faq]
        restore_revision(revision=document.revisions.get())
        assert Document.objects.get(pk=document.pk).text == text
    else:
        set_document_status(documents=[document], status="archived")
        set_document_status(documents=[document], status=was)
    document.refresh_from_db()
    assert list(stale_documents()) == []
    assert not find_impact(document).answers.exists()
    assert not FAQ.objects.with_changed_sources().exists()
    assert not FAQ.objects.for_list().get().has_changed_source
    edit(document, "Something else again.")
    assert [each.pk for each in stale_documents()] == [document.pk]


def test_what_was_checked_or_answered_in_between_is_listed_when_the_page_is_as_before() -> None:
    document = DocumentFactory()
    text = document.text
    edit(document)
    faq = FAQFactory(status="published", documents=[document])
    answer = CitationFactory(document=document).message
    edit(document, text)
    (listed,) = stale_documents()
    assert (listed.faq_count, listed.answer_count) == (1, 1)  # type: ignore[attr-defined]
    assert list(FAQ.objects.with_changed_sources()) == [faq]
    assert list(find_impact(document).answers) == [answer]


def test_a_page_that_is_as_it_was_when_somebody_checked_it_is_not_to_be_checked_again() -> None:
    document = relied_on()
    edit(document)
    mark_verified(document=document)
    document.refresh_from_db()
    edit(document, "A third version.")
    edit(document)
    document.refresh_from_db()
    assert list(stale_documents()) == []
    assert not find_impact(document).answers.exists()


def test_what_nobody_relied_on_is_not_listed() -> None:
    document = DocumentFactory()
    edit(document)
    FAQFactory(documents=[document])  # whoever links it now sees it as it is
    CitationFactory(document=document)
    retired = DocumentFactory()
    FAQFactory(status="retired", documents=[retired])
    edit(retired)
    assert list(stale_documents()) == []


def test_answers_count_while_they_are_recent() -> None:
    document = DocumentFactory()
    citation = CitationFactory(document=document, message=AnswerFactory())
    Message.objects.filter(pk=citation.message_id).update(created_at=timezone.now() - timedelta(days=31))
    edit(document)
    assert list(stale_documents()) == []


def test_whoever_checked_it_is_not_asked_again_until_it_changes_again() -> None:
    document = relied_on()
    edit(document)
    mark_verified(document=document)
    assert list(stale_documents()) == []
    document.refresh_from_db()
    edit(document, "A third version.")
    (listed,) = stale_documents()
    assert listed.faq_count == 1  # type: ignore[attr-defined]


def test_saving_an_faq_is_seeing_its_documents(admin_client: Client) -> None:
    document = relied_on()
    edit(document)
    faq = document.faqs.get()
    (source,) = faq.sources.all()
    data = {
        "seen": seen(faq),
        "question": faq.question,
        "language": "en",
        "status": "published",
        "reference_answer": "",
        "phrasings-TOTAL_FORMS": 0,
        "phrasings-INITIAL_FORMS": 0,
        "sources-TOTAL_FORMS": 1,
        "sources-INITIAL_FORMS": 1,
        "sources-0-id": source.pk,
        "sources-0-faq": faq.pk,
        "sources-0-document": document.pk,
        "sources-0-position": 0,
    }
    assert admin_client.post(reverse("admin:faqs_faq_change", args=[faq.pk]), data).status_code == 302
    document.refresh_from_db()
    assert not find_impact(document).faqs.exists()
    assert find_impact(document).answers.exists()


# --- the screens ---


def test_staff_go_through_the_list(admin_client: Client) -> None:
    document = relied_on(title="<script>alert(1)</script>")
    assert "Nothing to verify" in admin_client.get(reverse("impact")).content.decode()
    edit(document)
    assert "1 FAQ to check: its page changed." in admin_client.get(reverse("admin:index")).content.decode()
    page = admin_client.get(reverse("impact")).content.decode()
    address = reverse("impact-document", args=[document.pk])
    assert address in page
    assert "<script>alert" not in page
    page = admin_client.get(address).content.decode()
    assert reverse("admin:faqs_faq_change", args=[document.faqs.get().pk]) in page
    assert "You do it like this." in page
    assert "<script>alert" not in page
    after = admin_client.post(address, follow=True).content.decode()
    assert "Nothing to verify" in after
    assert "None to verify" in admin_client.get(address).content.decode()
    assert "its page changed" not in admin_client.get(reverse("admin:index")).content.decode()


def test_answers_are_shown_as_words(admin_client: Client) -> None:
    document = relied_on()
    message = Message.objects.get(citations__document=document)
    message.text = "**Library › Borrowing** [1]\n\n| Type | Weeks |\n|---|---|\n| Book \\* | 4 |"
    message.save()
    edit(document)
    page = admin_client.get(reverse("impact-document", args=[document.pk])).content.decode()
    assert "Library › Borrowing [1] Type Weeks Book * 4" in page


def test_who_may_not_see_documents_or_conversations_does_not(client: Client) -> None:
    document = relied_on()
    edit(document)
    user = UserFactory(is_staff=True)
    client.force_login(user)
    address = reverse("impact-document", args=[document.pk])
    assert client.get(reverse("impact")).status_code == client.get(address).status_code == 403
    user.user_permissions.add(Permission.objects.get(codename="view_document"))
    page = client.get(address).content.decode()
    assert "1 answer" in page
    assert "You do it like this." not in page
    assert "All is right" not in page
    assert client.post(address).status_code == 403


@pytest.mark.slow
def test_the_list_costs_as_many_queries_for_many_as_for_one(admin_client: Client) -> None:
    counts = []
    for amount in (1, 20):
        for _ in range(amount):
            edit(relied_on())
        with CaptureQueriesContext(
            connection,
        ) as queries:
            assert admin_client.get(reverse("impact")).status_code == 200
        counts.append(len(queries))
    assert counts[0] == counts[1]
