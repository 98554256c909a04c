"""FAQs in the admin."""

import datetime
import re
from collections.abc import Callable
from html import unescape
from typing import Any
from unittest.mock import Mock

import pytest
from django.contrib.admin.models import LogEntry
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from faqs.indexing import sync_faq
from faqs.models import FAQ
from faqs.tasks import index_faq
from knowledge.models import Document
from tests.factories import CategoryFactory, DocumentFactory, FAQFactory, UserFactory
from tests.faqs.forms import build_form

pytestmark = pytest.mark.django_db
LIST = "admin:faqs_faq_changelist"
OnCommit = Callable[..., Any]


@pytest.fixture
def queued(monkeypatch: pytest.MonkeyPatch) -> Mock:
    delay = Mock()
    monkeypatch.setattr(index_faq, "delay", delay)
    return delay


def change_page(faq: FAQ) -> str:
    return reverse("admin:faqs_faq_change", args=[faq.pk])


@pytest.mark.parametrize("query", ["", "?q=matter&status=draft&valid=today&documents=some&language=en"])
def test_the_list_takes_as_many_queries_for_60_faqs_as_for_3(admin_client: Client, query: str) -> None:
    document, category = DocumentFactory(), CategoryFactory()
    counts = []
    for more in (3, 57):
        FAQFactory.create_batch(more, category=category, phrasings=["So?", "Or so?"], documents=[document])
        with CaptureQueriesContext(connection) as queries:
            page = admin_client.get(reverse(LIST) + query)
        assert page.status_code == 200
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_the_list_counts_phrasings_and_documents_apart(admin_client: Client) -> None:
    FAQFactory(phrasings=["So?", "Or so?", "Or?"], documents=DocumentFactory.create_batch(2))
    page = admin_client.get(reverse(LIST)).content.decode()
    assert '<td class="field-phrasing_count">3</td>' in page
    assert '<td class="field-source_count">2</td>' in page


def test_search_finds_an_faq_once_by_any_phrasing(admin_client: Client) -> None:
    FAQFactory(question="How high are the fees?", phrasings=["What do I pay?", "What must I pay each term?"])
    FAQFactory(question="Where do I sleep?")
    page = admin_client.get(reverse(LIST), {"q": "pay"}).content.decode()
    assert page.count("How high are the fees?</a>") == 1
    assert "Where do I sleep?" not in page


@pytest.mark.parametrize(
    ("chosen", "shown"), [("today", {"Now", "Always"}), ("expired", {"Once"}), ("later", {"Soon"})]
)
def test_the_list_is_filtered_by_validity(admin_client: Client, chosen: str, shown: set[str]) -> None:
    today, day = timezone.localdate(), datetime.timedelta(days=1)
    FAQFactory(question="Always")
    FAQFactory(question="Now", valid_from=today, valid_until=today)
    FAQFactory(question="Once", valid_until=today - day)
    FAQFactory(question="Soon", valid_from=today + day)
    page = admin_client.get(reverse(LIST), {"valid": chosen}).content.decode()
    assert {name for name in ("Always", "Now", "Once", "Soon") if f">{name}</a>" in page} == shown


def test_published_faqs_that_lost_their_documents_can_be_found(admin_client: Client) -> None:
    FAQFactory(question="Held", documents=[DocumentFactory()])
    lost = FAQFactory(question="Lost", status="published", documents=[DocumentFactory()])
    lost.documents.get().delete()
    page = admin_client.get(reverse(LIST), {"documents": "none"}).content.decode()
    assert ">Lost</a>" in page
    assert ">Held</a>" not in page


def test_a_new_faq_with_its_parts_is_queued_once_and_after_commit(
    admin_client: Client, queued: Mock, django_capture_on_commit_callbacks: OnCommit
) -> None:
    data = build_form(FAQFactory.build(status="published"), phrasings=["So?", "Or so?"], documents=[DocumentFactory()])
    with django_capture_on_commit_callbacks() as callbacks:
        assert admin_client.post(reverse("admin:faqs_faq_add"), data).status_code == 302
        queued.assert_not_called()
    for callback in callbacks:
        callback()
    faq = FAQ.objects.get()
    queued.assert_called_once_with(faq.pk)
    assert (faq.phrasings.count(), faq.sources.count()) == (2, 1)


def test_a_mistake_in_a_part_queues_nothing(
    admin_client: Client, queued: Mock, django_capture_on_commit_callbacks: OnCommit
) -> None:
    faq = FAQFactory(phrasings=["So?"])
    with django_capture_on_commit_callbacks(execute=True) as callbacks:
        page = admin_client.post(change_page(faq), build_form(faq, phrasings=["So?"], question="Typed anew?"))
    assert page.status_code == 200
    assert "Typed anew?" in page.content.decode()
    assert not callbacks
    queued.assert_not_called()


def test_publishing_without_a_document_is_refused_and_keeps_what_was_typed(
    admin_client: Client, queued: Mock, django_capture_on_commit_callbacks: OnCommit
) -> None:
    faq = FAQFactory()
    data = build_form(faq, status="published", question="Typed anew?", phrasings=["And this too?"])
    with django_capture_on_commit_callbacks(execute=True) as callbacks:
        page = admin_client.post(change_page(faq), data).content.decode()
    assert "A published FAQ needs an answer" in page
    assert "Typed anew?" in page
    assert "And this too?" in page
    assert not callbacks
    faq.refresh_from_db()
    assert faq.status == "draft"


def test_documents_without_an_order_come_last(admin_client: Client) -> None:
    first, second, third = DocumentFactory.create_batch(3)
    faq = FAQFactory(documents=[first])
    data = build_form(faq, documents=[second, third]) | {"sources-1-position": "", "sources-2-position": ""}
    assert admin_client.post(change_page(faq), data).status_code == 302
    assert list(faq.sources.values_list("document_id", "position")) == [(first.pk, 0), (second.pk, 1), (third.pk, 2)]


def test_one_button_saves_and_publishes(admin_client: Client, queued: Mock) -> None:
    faq = FAQFactory()
    assert 'name="_publish"' in admin_client.get(change_page(faq)).content.decode()
    answered = build_form(faq, answer_en="It costs 5 euros.", office_en="the office", _publish="Save and publish")
    said = admin_client.post(change_page(faq), answered, follow=True).content.decode()
    assert f"“{faq.question}” is saved and published." in unescape(said)
    faq.refresh_from_db()
    assert faq.status == "published"
    assert 'name="_publish"' not in admin_client.get(change_page(faq)).content.decode()


def test_the_language_is_chosen_by_its_name_and_another_one_stays(admin_client: Client, queued: Mock) -> None:
    faq = FAQFactory(language="fr")
    page = admin_client.get(change_page(faq), headers={"accept-language": "de"}).content.decode()
    offered = re.findall(r'<option value="(\w\w)"( selected)?>(\w+)', page)
    assert {("de", "", "Deutsch"), ("en", "", "Englisch"), ("fr", " selected", "fr")} <= set(offered)
    admin_client.post(change_page(faq), build_form(faq, question="Combien ?"))
    faq.refresh_from_db()
    assert (faq.question, faq.language) == ("Combien ?", "fr")


def test_who_may_not_publish_has_no_button_and_is_refused(queued: Mock) -> None:
    faq, client = FAQFactory(documents=[DocumentFactory()]), Client()
    client.force_login(UserFactory(permissions=["faqs.view_faq", "faqs.change_faq"]))
    assert 'name="_publish"' not in client.get(change_page(faq)).content.decode()
    client.post(change_page(faq), build_form(faq, _publish="Save and publish"))
    faq.refresh_from_db()
    assert faq.status == "draft"


def test_a_published_faq_keeps_its_last_document(admin_client: Client) -> None:
    faq = FAQFactory(status="published", documents=[DocumentFactory()])
    page = admin_client.post(change_page(faq), build_form(faq) | {"sources-0-DELETE": "on"}).content.decode()
    assert "A published FAQ needs an answer" in page
    assert faq.sources.count() == 1
    retired = build_form(faq, status="retired") | {"sources-0-DELETE": "on"}
    assert admin_client.post(change_page(faq), retired).status_code == 302


def test_an_archived_document_is_refused_once_and_by_name(admin_client: Client) -> None:
    faq = FAQFactory()
    data = build_form(faq, status="published", documents=[DocumentFactory(status="archived")])
    page = admin_client.post(change_page(faq), data).content.decode()
    assert "This document is archived" in page
    assert "needs an answer" not in page


def test_unchanged_texts_are_not_embedded_again(
    admin_client: Client, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: OnCommit
) -> None:
    faq = FAQFactory(phrasings=["So?"])
    sync_faq(faq.pk)
    embedded: list[int] = []
    monkeypatch.setattr(index_faq, "delay", lambda pk: embedded.append(sync_faq(pk)))
    changes: list[dict[str, Any]] = [{}, {"status": "in_review"}, {"phrasings": ["Or so?"]}]
    for change in changes:
        with django_capture_on_commit_callbacks(execute=True):
            assert admin_client.post(change_page(faq), build_form(faq, **change)).status_code == 302
    assert embedded == [0, 0, 1]


@pytest.mark.parametrize(
    ("action", "status", "said"),
    [
        ("publish", "published", "2 FAQs were published."),
        ("retire", "retired", "2 FAQs were retired"),
        ("back_to_draft", "draft", "2 FAQs are drafts again."),
    ],
)
def test_actions_change_the_status_queue_it_and_say_so(
    admin_client: Client,
    queued: Mock,
    django_capture_on_commit_callbacks: OnCommit,
    action: str,
    status: str,
    said: str,
) -> None:
    document = DocumentFactory()
    faqs = FAQFactory.create_batch(2, status="in_review", documents=[document])
    already = FAQFactory(status=status, documents=[document])
    chosen = [faq.pk for faq in (*faqs, already)]
    with django_capture_on_commit_callbacks(execute=True):
        page = admin_client.post(reverse(LIST), {"action": action, "_selected_action": chosen}, follow=True)
    assert said in page.content.decode()
    assert set(FAQ.objects.values_list("status", flat=True)) == {status}
    assert sorted(call.args[0] for call in queued.call_args_list) == sorted(faq.pk for faq in faqs)
    assert LogEntry.objects.count() == 2


def test_one_faq_without_a_document_keeps_all_from_being_published(
    admin_client: Client, queued: Mock, django_capture_on_commit_callbacks: OnCommit
) -> None:
    good, bare = FAQFactory(documents=[DocumentFactory()]), FAQFactory(question="What is it?")
    data = {"action": "publish", "_selected_action": [good.pk, bare.pk]}
    with django_capture_on_commit_callbacks(execute=True):
        page = admin_client.post(reverse(LIST), data, follow=True).content.decode()
    assert "Nothing was changed. “What is it?” has no answer yet" in page
    assert set(FAQ.objects.values_list("status", flat=True)) == {"draft"}
    queued.assert_not_called()
    assert not LogEntry.objects.exists()


def test_who_may_change_faqs_may_change_their_parts(
    client: Client, queued: Mock, django_capture_on_commit_callbacks: OnCommit
) -> None:
    client.force_login(
        UserFactory(permissions=["faqs.view_faq", "faqs.change_faq", "faqs.publish_faq", "knowledge.view_document"])
    )
    faq = FAQFactory()
    with django_capture_on_commit_callbacks(execute=True):
        data = build_form(faq, phrasings=["So?"], documents=[DocumentFactory()], status="published")
        assert client.post(change_page(faq), data).status_code == 302
    assert (faq.phrasings.count(), faq.sources.count()) == (1, 1)


def test_who_may_only_look_sees_the_parts_and_changes_nothing(client: Client) -> None:
    client.force_login(UserFactory(permissions=["faqs.view_faq"]))
    faq = FAQFactory(phrasings=["Another way to say it?"])
    page = client.get(change_page(faq)).content.decode()
    assert "Another way to say it?" in page
    assert 'name="_save"' not in page
    assert client.post(change_page(faq), build_form(faq)).status_code == 403


def test_an_faq_is_deleted_with_its_parts_but_not_its_documents(admin_client: Client) -> None:
    faq = FAQFactory(phrasings=["So?"], documents=[DocumentFactory()])
    sync_faq(faq.pk)
    admin_client.post(reverse("admin:faqs_faq_delete", args=[faq.pk]), {"post": "yes"})
    assert not FAQ.objects.exists()
    assert Document.objects.count() == 1


def test_a_deleted_category_leaves_its_faqs(admin_client: Client) -> None:
    faq = FAQFactory(category=CategoryFactory())
    assert (
        '<td class="field-faqs">1</td>' in admin_client.get(reverse("admin:faqs_category_changelist")).content.decode()
    )
    admin_client.post(reverse("admin:faqs_category_delete", args=[faq.category_id]), {"post": "yes"})
    faq.refresh_from_db()
    assert faq.category is None


def test_an_faq_links_to_its_trial(admin_client: Client) -> None:
    faq = FAQFactory(question="Fees & more?")
    assert "/admin/try/?question=Fees%20%26%20more%3F" in admin_client.get(change_page(faq)).content.decode()


@pytest.mark.parametrize("language", ["en", "de"])
def test_a_new_faq_is_in_the_language_of_who_writes_it(admin_client: Client, language: str) -> None:
    page = admin_client.get(reverse("admin:faqs_faq_add"), headers={"accept-language": language})
    assert page.context["adminform"].form["language"].value() == language
