"""From a topic to its FAQ and back: students' words are kept, and the topic says whether it is answered now."""

from datetime import timedelta
from typing import Any
from unittest.mock import Mock

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from analytics.gaps.answered import looks
from analytics.models import Gap
from analytics.tasks import ask_again
from faqs.indexing import sync_pending as sync_pending_faqs
from faqs.models import FAQ
from faqs.tasks import index_faq
from knowledge.indexing.documents import sync_pending
from knowledge.models import Document
from tests.analytics.gaps.rows import ask_in_vain, look
from tests.analytics.rows import url_of
from tests.conftest import load_pages
from tests.factories import DocumentFactory, FAQFactory, UserFactory
from tests.faqs.forms import build_form

pytestmark = pytest.mark.django_db
ASKED = "Where can I park my car?"
WRITTEN = "Parking places for motor vehicles"
OFFICE = {
    "url": "https://www.uni.example/office",
    "title": "Office",
    "text": "# Office\n\nCars are registered at the facility office on Mondays.",
}


@pytest.fixture(autouse=True)
def _nothing_is_queued(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_faq, "delay", Mock())
    monkeypatch.setattr(looks, "SETTLED", timedelta(0))


@pytest.fixture
def gap() -> Gap:
    """Make a topic as a night finds it, with a page that was there before."""
    load_pages([OFFICE])
    Document.objects.update(created_at=timezone.now() - timedelta(days=9))
    ask_in_vain(ASKED)
    look()
    ask_again()
    return Gap.objects.get()


def make_draft(client: Client, gap: Gap, **given: Any) -> Any:
    """Press “Make a draft FAQ” with another question and the page ticked."""
    central = client.get(url_of(gap)).context["suggestions"].question.key
    data = {"central": central, "question": WRITTEN, "documents": [Document.objects.first().pk], **given}
    return client.post(url_of(gap, "draft"), data)


def publish(client: Client, address: str) -> Any:
    """Publish the draft with its form, as a browser sends it; a worker indexes it."""
    faq = FAQ.objects.get()
    response = client.post(address, build_form(faq, status="published"), follow=True)
    sync_pending()
    sync_pending_faqs()
    return response


def test_a_topic_whose_question_was_reworded_is_answered_by_its_faq(admin_client: Client, gap: Gap) -> None:
    opened = make_draft(admin_client, gap)["Location"]
    faq = FAQ.objects.get()
    assert (faq.question, [each.text for each in faq.phrasings.all()]) == (WRITTEN, [ASKED])
    response = publish(admin_client, opened)
    assert response.redirect_chain[-1][0] == url_of(gap)
    page = response.content.decode()
    assert "was changed successfully" in page
    assert "The FAQ is published; the topic is asked again within a minute." in page
    ask_again()
    gap.refresh_from_db()
    assert (gap.state, gap.answered_by_faq) == ("answered", faq)


def test_a_topic_that_is_still_not_answered_says_why(admin_client: Client, gap: Gap) -> None:
    opened = make_draft(admin_client, gap, central="")["Location"]
    publish(admin_client, opened)
    ask_again()
    gap.refresh_from_db()
    assert gap.state == "in_work"
    page = admin_client.get(url_of(gap)).content.decode()
    assert "Asked again: still not answered, because" in page
    assert f"{Gap.Unanswered(gap.unanswered_because).label} (" in page
    # What is missing is offered, and answers it.
    address = reverse("admin:analytics_gap_phrasings", args=[gap.pk, FAQ.objects.get().pk])
    assert address in page
    admin_client.post(address, {"phrasings": [each.pk for each in gap.questions.all()]})
    sync_pending_faqs()
    page = admin_client.get(url_of(gap)).content.decode()
    assert "the topic is asked again within a minute" in page
    assert address not in page
    ask_again()
    gap.refresh_from_db()
    assert gap.state == "answered"


def test_once_there_is_a_draft_the_topic_offers_nothing_that_is_done(admin_client: Client, gap: Gap) -> None:
    make_draft(admin_client, gap)
    page = admin_client.get(url_of(gap)).content.decode()
    faq = reverse("admin:faqs_faq_change", args=[FAQ.objects.get().pk])
    assert f'href="{faq}?back={url_of(gap)}"' in page
    assert "Open the draft" in page
    assert "Once this FAQ is published, the topic is asked again within a minute." in page
    for gone in ('name="question"', "FAQs that are close", "Add these phrasings", "Suggestions from this question"):
        assert gone not in page, gone
    FAQ.objects.update(status="retired")
    assert 'name="question"' in admin_client.get(url_of(gap)).content.decode()


def test_who_may_not_see_faqs_gets_no_link_to_the_draft(client: Client, gap: Gap) -> None:
    Gap.objects.update(faq=FAQFactory(question=WRITTEN))
    client.force_login(UserFactory(permissions=["analytics.view_gap"]))
    page = client.get(url_of(gap)).content.decode()
    assert WRITTEN in page
    assert "Open the draft" not in page


def test_a_page_that_was_searched_for_answers_too(admin_client: Client, gap: Gap) -> None:
    shown = admin_client.get(url_of(gap)).content.decode()
    assert "Search for other pages" in shown
    assert "admin/js/autocomplete.js" in shown
    other, draft = DocumentFactory(language="de", title="Parken"), DocumentFactory(status="draft")
    address = reverse("admin:autocomplete")
    found = admin_client.get(
        address, {"app_label": "faqs", "model_name": "faqsource", "field_name": "document", "term": "Parken"}
    )
    assert [each["id"] for each in found.json()["results"]] == [str(other.pk)]
    ticked = Document.objects.get(title="Office").pk
    make_draft(admin_client, gap, documents=[ticked, other.pk, draft.pk])
    assert list(FAQ.objects.get().sources.values_list("document", flat=True)) == [ticked, other.pk, draft.pk]


def test_close_faqs_are_shown_before_a_draft_is_made_drafts_too(client: Client, gap: Gap) -> None:
    for question, status in (("Where can I park a car?", "draft"), ("Where do I park my car?", "retired")):
        FAQFactory(question=question, status=status)
    sync_pending_faqs()
    client.force_login(UserFactory(permissions=["analytics.change_gap", "faqs.add_faq", "faqs.view_faq"]))
    page = client.get(url_of(gap)).content.decode()
    assert "Where can I park a car?" in page
    assert "Where do I park my car?" not in page
    assert "Add these phrasings there instead" not in page
