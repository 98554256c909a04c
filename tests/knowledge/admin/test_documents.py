"""Documents in the admin: the list, the form, what is shown of one and what is done to it."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import date, timedelta
from typing import Any
from unittest.mock import Mock

import pytest
from django.contrib.admin.models import LogEntry
from django.db import connection, connections, transaction
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from knowledge.indexing.documents import sync_document
from knowledge.indexing.generations import live_generation
from knowledge.models import Document, IndexChange, Passage, Source, SourcePage
from knowledge.services.documents import set_document_status
from knowledge.tasks import index_document
from tests.factories import (
    CitationFactory,
    CollectionFactory,
    DocumentFactory,
    FAQFactory,
    PassageFactory,
    UserFactory,
    is_indexed,
)
from tests.knowledge.embedders import Watched, use
from tests.sent import as_sent, form_on

pytestmark = pytest.mark.django_db
LIST = "admin:knowledge_document_changelist"


@pytest.fixture
def queued(monkeypatch: pytest.MonkeyPatch) -> Mock:
    delay = Mock()
    monkeypatch.setattr(index_document, "delay", delay)
    return delay


def fill_form(document: Document, **changes: Any) -> dict[str, Any]:
    """Return what is sent right after the form was opened."""
    names = ("title", "url", "language", "status", "text", "external_id")
    seen = Document.objects.filter(pk=document.pk).values_list("updated_at", flat=True).first()
    return {
        "seen": seen.isoformat() if seen else "",
        **{name: getattr(document, name) for name in names},
        "audience": ",".join(document.audience),
        "collection": document.collection_id,
        "metadata": "{}",
        **changes,
    }


def change_page(document: Document) -> str:
    return reverse("admin:knowledge_document_change", args=[document.pk])


@pytest.mark.parametrize("query", ["", "?q=page&status=published&indexed=no&language=en&valid=today&source=none"])
def test_the_list_takes_as_many_queries_for_60_documents_as_for_3(admin_client: Client, query: str) -> None:
    collection = CollectionFactory()
    counts = []
    for more in (3, 57):
        for document in DocumentFactory.create_batch(more, collection=collection):
            PassageFactory.create_batch(2, document=document)
        with CaptureQueriesContext(connection) as queries:
            page = admin_client.get(reverse(LIST) + query)
        assert page.status_code == 200
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_the_list_says_how_many_passages_there_are_and_whether_they_are_up_to_date(admin_client: Client) -> None:
    document = DocumentFactory(title="Fees of the semester")
    sync_document(document.pk)
    DocumentFactory(title="Not looked at yet")
    page = admin_client.get(reverse(LIST), {"indexed": "yes"}).content.decode()
    assert "Fees of the semester" in page
    assert "Not looked at yet" not in page
    assert '<td class="field-passage_count">1</td>' in page


def test_the_form_shows_the_passages_as_text_and_links_the_page(admin_client: Client) -> None:
    document = DocumentFactory(url="https://www.uni.example/fees")
    PassageFactory(document=document, heading_path=["Fees", "<b>Refunds</b>"], text="<script>alert(1)</script>")
    page = admin_client.get(change_page(document)).content.decode()
    assert "Fees › &lt;b&gt;Refunds&lt;/b&gt;" in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "<script>alert" not in page
    assert 'href="https://www.uni.example/fees"' in page
    assert "Open page" in page


def test_an_address_that_is_no_web_page_becomes_no_link(admin_client: Client) -> None:
    document = DocumentFactory(url="javascript:alert(1)")
    assert 'href="javascript' not in admin_client.get(change_page(document)).content.decode()


def test_a_new_document_is_queued_once_and_after_commit(
    admin_client: Client, queued: Mock, django_capture_on_commit_callbacks: Callable[..., Any]
) -> None:
    draft = DocumentFactory.build(collection=CollectionFactory())
    with django_capture_on_commit_callbacks() as callbacks:
        answer = admin_client.post(reverse("admin:knowledge_document_add"), fill_form(draft))
        assert answer.status_code == 302
        queued.assert_not_called()
    for callback in callbacks:
        callback()
    queued.assert_called_once_with(Document.objects.get().pk)


def test_a_changed_document_is_queued_once(
    admin_client: Client, queued: Mock, django_capture_on_commit_callbacks: Callable[..., Any]
) -> None:
    document = DocumentFactory()
    with django_capture_on_commit_callbacks(execute=True):
        admin_client.post(change_page(document), fill_form(document, text="Something else."))
    queued.assert_called_once_with(document.pk)
    document.refresh_from_db()
    assert document.text == "Something else."


@pytest.mark.parametrize("mistake", [{"title": ""}, {"url": "no address"}, {"url": "https://www.uni.example/taken"}])
def test_a_mistake_queues_nothing_and_keeps_what_was_typed(
    admin_client: Client,
    queued: Mock,
    django_capture_on_commit_callbacks: Callable[..., Any],
    mistake: dict[str, str],
) -> None:
    document = DocumentFactory()
    DocumentFactory(collection=document.collection, url="https://www.uni.example/taken")
    with django_capture_on_commit_callbacks(execute=True) as callbacks:
        page = admin_client.post(change_page(document), fill_form(document, text="Typed at length.", **mistake))
    assert page.status_code == 200
    assert "Please correct the error below" in page.content.decode()
    assert "Typed at length." in page.content.decode()
    assert not callbacks
    queued.assert_not_called()


def test_saving_an_unchanged_text_embeds_nothing(
    admin_client: Client, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Callable[..., Any]
) -> None:
    document = DocumentFactory()
    sync_document(document.pk)
    embedder = use(monkeypatch, Watched())
    monkeypatch.setattr(index_document, "delay", sync_document)
    for changes in ({}, {"external_id": "another"}, {"status": "draft"}):
        with django_capture_on_commit_callbacks(execute=True):
            admin_client.post(change_page(document), fill_form(document, **changes))
    assert embedder.seen == []
    with django_capture_on_commit_callbacks(execute=True):
        admin_client.post(change_page(document), fill_form(document, text="New words."))
    assert len(embedder.seen) == 1


@pytest.mark.parametrize(("action", "status"), [("publish", "published"), ("archive", "archived")])
def test_actions_change_the_status_queue_it_and_say_so(
    admin_client: Client,
    queued: Mock,
    django_capture_on_commit_callbacks: Callable[..., Any],
    action: str,
    status: str,
) -> None:
    documents = DocumentFactory.create_batch(2, status="draft")
    already = DocumentFactory(status=status)
    chosen = [document.pk for document in (*documents, already)]
    with django_capture_on_commit_callbacks(execute=True):
        page = admin_client.post(reverse(LIST), {"action": action, "_selected_action": chosen}, follow=True)
    assert "2 documents were " in page.content.decode()
    assert set(Document.objects.values_list("status", flat=True)) == {status}
    assert sorted(call.args[0] for call in queued.call_args_list) == sorted(document.pk for document in documents)
    assert LogEntry.objects.count() == 2


def test_deleting_takes_the_passages_tells_the_lexical_index_and_leaves_the_faq(admin_client: Client) -> None:
    document = DocumentFactory()
    PassageFactory.create_batch(3, document=document)
    faq = FAQFactory(documents=[document])
    url = reverse("admin:knowledge_document_delete", args=[document.pk])
    assert "Passages: 3" in admin_client.get(url).content.decode()
    admin_client.post(url, {"post": "yes"})
    assert not Document.objects.exists()
    assert not Passage.objects.exists()
    assert IndexChange.objects.filter(document_id=document.pk).exists()
    faq.refresh_from_db()
    assert faq.sources.count() == 0


def test_deleting_several_tells_the_lexical_index_of_each(admin_client: Client) -> None:
    documents = DocumentFactory.create_batch(3)
    chosen = [document.pk for document in documents]
    data = {"action": "delete_selected", "_selected_action": chosen}
    assert "Documents: 3" in admin_client.post(reverse(LIST), data).content.decode()
    admin_client.post(reverse(LIST), {**data, "post": "yes"})
    assert not Document.objects.exists()
    assert set(IndexChange.objects.values_list("document_id", flat=True)) == set(chosen)


# --- drafts ---


def status_of(document: Document) -> str:
    return Document.objects.values_list("status", flat=True).get(pk=document.pk)


def test_a_document_begins_in_the_language_of_its_authors_screen(admin_client: Client) -> None:
    for language in ("de", "en"):
        opened = admin_client.get(reverse("admin:knowledge_document_add"), headers={"accept-language": language})
        assert form_on(opened, "document_form").fields["language"] == language


def test_a_document_that_is_published_says_so(admin_client: Client, queued: Mock) -> None:
    document = DocumentFactory(status="draft", title="Fees")
    page = admin_client.post(change_page(document), fill_form(document, _publish="Save and publish"), follow=True)
    assert "“Fees” is saved and published." in page.content.decode()


@pytest.mark.parametrize("popup", ["", "?_popup=1"])
def test_what_is_written_by_hand_begins_as_a_draft_and_is_published_by_a_button(
    admin_client: Client, queued: Mock, popup: str
) -> None:
    address = reverse("admin:knowledge_document_add") + popup
    opened = admin_client.get(address)
    assert form_on(opened, "document_form").fields["status"] == "draft"
    assert 'name="_publish"' in opened.content.decode()
    collection = CollectionFactory()
    values = {"title": "Fees", "url": "https://www.uni.example/fees", "collection": collection.pk, "text": "10 euros."}
    admin_client.post(address, as_sent(opened, "document_form", **values))
    made = Document.objects.get()
    assert made.status == "draft"
    page = admin_client.get(change_page(made)).content.decode()
    assert "No student sees it, and no question finds it, until it is published." in page
    assert "A draft is not indexed." in page
    admin_client.post(change_page(made), fill_form(made, _publish="Save and publish"))
    assert status_of(made) == "published"
    assert "status" in LogEntry.objects.latest("pk").change_message.lower()
    made.refresh_from_db()
    page = admin_client.get(change_page(made)).content.decode()
    assert 'name="_publish"' not in page
    assert 'name="_to_draft"' in page
    admin_client.post(change_page(made), fill_form(made, _to_draft="Take back to draft"))
    assert status_of(made) == "draft"


def test_a_draft_has_no_passages_and_its_citations_stay(admin_client: Client) -> None:
    document = DocumentFactory()
    sync_document(document.pk)
    citation = CitationFactory(document=document)
    assert Passage.objects.filter(document=document).exists()
    set_document_status(documents=[document], status="draft")
    sync_document(document.pk)
    assert not Passage.objects.filter(document=document).exists()
    assert IndexChange.objects.filter(document_id=document.pk).exists()
    assert not Document.objects.needing_index(live_generation().pk).exists()
    citation.refresh_from_db()
    assert citation.document == document
    set_document_status(documents=[document], status="published")
    sync_document(document.pk)
    assert Passage.objects.filter(document=document).exists()


def test_who_may_only_add_publishes_nothing_of_others(client: Client, queued: Mock) -> None:
    client.force_login(UserFactory(permissions=["knowledge.view_document", "knowledge.add_document"]))
    document = DocumentFactory(status="draft")
    assert 'name="_publish"' not in client.get(change_page(document)).content.decode()
    assert client.post(change_page(document), fill_form(document, _publish="x")).status_code == 403
    assert status_of(document) == "draft"


def test_drafts_say_so_where_they_are_chosen_for_an_faq(admin_client: Client) -> None:
    document = DocumentFactory(title="Fees to come", status="draft")
    query = {"term": "fees", "app_label": "faqs", "model_name": "faqsource", "field_name": "document"}
    found = admin_client.get(reverse("admin:autocomplete"), query).json()["results"]
    assert [row["text"] for row in found] == ["Fees to come (draft: no student sees it)"]
    faq = FAQFactory(documents=[document])
    page = admin_client.get(reverse("admin:faqs_faq_change", args=[faq.pk])).content.decode()
    assert "Fees to come (draft: no student sees it)" in page


def test_archived_documents_are_not_offered_to_faqs(admin_client: Client) -> None:
    DocumentFactory(title="Fees now")
    DocumentFactory(title="Fees of old", status="archived")
    query = {"term": "fees", "app_label": "faqs", "model_name": "faqsource", "field_name": "document"}
    found = admin_client.get(reverse("admin:autocomplete"), query).json()["results"]
    assert [row["text"] for row in found] == ["Fees now"]


def test_who_may_only_look_can_change_nothing(client: Client) -> None:
    client.force_login(UserFactory(permissions=["knowledge.view_document"]))
    document = DocumentFactory(status="draft")
    assert "Save" not in client.get(change_page(document)).content.decode()
    assert client.post(change_page(document), fill_form(document, text="Mine.")).status_code == 403
    client.post(reverse(LIST), {"action": "publish", "_selected_action": [document.pk]})
    document.refresh_from_db()
    assert document.status == "draft"


def test_a_long_document_shows_its_first_passages_only(admin_client: Client) -> None:
    document = DocumentFactory()
    PassageFactory.create_batch(203, document=document)
    page = admin_client.get(change_page(document)).content.decode()
    assert page.count("passages__item") == 200
    assert "And 3 more." in page


def test_passages_are_shown_as_the_cutter_made_them(admin_client: Client) -> None:
    document = DocumentFactory(text="# Loans\n\nFour weeks.\n\n# Hours\n\nTill midnight.")
    sync_document(document.pk)
    page = admin_client.get(change_page(document)).content.decode()
    panel = page[page.index("passages__item") :]
    assert panel.index("Loans") < panel.index("Four weeks.") < panel.index("Hours") < panel.index("Till midnight.")


# --- narrowing and searching the list ---


def titles(page: HttpResponse) -> set[str]:
    return {document.title for document in page.context["cl"].result_list}


def test_the_search_finds_words_of_the_text_wherever_each_stands(admin_client: Client) -> None:
    DocumentFactory(title="Fees", text="A refund of the semester ticket is asked for by April.")
    DocumentFactory(title="Refund of a deposit", text="Four weeks.")
    assert titles(admin_client.get(reverse(LIST), {"q": "refund april"})) == {"Fees"}
    assert titles(admin_client.get(reverse(LIST), {"q": "refund fees"})) == {"Fees"}


@pytest.mark.parametrize("term", ["'", "\\", "a'b", "a & !b", "((", "%", "x:*", "' | 'refund"])
def test_no_sign_in_a_search_is_more_than_itself(admin_client: Client, term: str) -> None:
    DocumentFactory(title="Fees", text="A refund of the semester ticket.")
    assert titles(admin_client.get(reverse(LIST), {"q": term})) == set()


def test_a_search_in_texts_uses_the_index() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
    assert "document_by_words" in Document.objects.with_words("refund").explain()


def test_an_autocomplete_does_not_search_texts(admin_client: Client) -> None:
    DocumentFactory(title="Fees", text="A refund of the semester ticket.")
    query = {"term": "refund", "app_label": "faqs", "model_name": "faqsource", "field_name": "document"}
    assert admin_client.get(reverse("admin:autocomplete"), query).json()["results"] == []


@pytest.mark.parametrize(
    ("valid", "expected"), [("expired", {"Old"}), ("later", {"Next"}), ("today", {"Now", "Always"})]
)
def test_the_list_is_narrowed_by_validity(admin_client: Client, valid: str, expected: set[str]) -> None:
    today, day = timezone.localdate(), timedelta(days=1)
    DocumentFactory(title="Old", valid_until=today - day)
    DocumentFactory(title="Next", valid_from=today + day)
    DocumentFactory(title="Now", valid_from=today, valid_until=today)
    DocumentFactory(title="Always")
    assert titles(admin_client.get(reverse(LIST), {"valid": valid})) == expected


def test_the_list_is_narrowed_by_source(admin_client: Client) -> None:
    crawled, written = DocumentFactory(title="Crawled"), DocumentFactory(title="Written")
    source = Source.objects.create(name="Site", collection=crawled.collection, start_urls=["https://www.uni.example/"])
    SourcePage.objects.create(source=source, url=crawled.url, document=crawled)
    assert titles(admin_client.get(reverse(LIST), {"source": source.pk})) == {"Crawled"}
    assert titles(admin_client.get(reverse(LIST), {"source": "none"})) == {written.title}


def test_the_list_says_what_is_expired(admin_client: Client) -> None:
    DocumentFactory(valid_until=date(2020, 3, 31))
    assert "expired on 31 Mar 2020" in admin_client.get(reverse(LIST)).content.decode()


def test_an_empty_list_says_what_to_do_first(admin_client: Client) -> None:
    page = admin_client.get(reverse(LIST)).content.decode()
    assert "No documents yet." in page
    assert reverse("admin:knowledge_source_add") in page


# --- the form ---


def test_the_scope_is_edited_in_the_form(admin_client: Client, queued: Mock) -> None:
    document = DocumentFactory()
    scope = {"valid_from": "2026-10-01", "valid_until": "2027-03-31", "audience": "programme:msc,regulation:2024"}
    assert admin_client.post(change_page(document), fill_form(document) | scope).status_code == 302
    document.refresh_from_db()
    assert (document.valid_from, document.valid_until) == (date(2026, 10, 1), date(2027, 3, 31))
    assert document.audience == ["programme:msc", "regulation:2024"]


@pytest.mark.parametrize("scope", [{"audience": "everyone"}, {"valid_from": "2027-01-01", "valid_until": "2026-01-01"}])
def test_a_scope_that_cannot_be_is_refused(admin_client: Client, scope: dict[str, str]) -> None:
    document = DocumentFactory()
    page = admin_client.post(change_page(document), fill_form(document) | scope)
    assert page.status_code == 200
    assert "Please correct the error below" in page.content.decode()


def test_passages_are_shown_with_words_page_and_how_often_they_were_cited(admin_client: Client) -> None:
    passage = PassageFactory(text="Eight times fifteen", page=7)
    CitationFactory.create_batch(2, document=passage.document, passage=passage)
    page = admin_client.get(change_page(passage.document)).content.decode()
    facts = " ".join(page[page.index("passages__facts") :].split())
    assert facts.index("3 words") < facts.index("page 7") < facts.index("cited 2 times")


def test_the_form_says_who_relies_on_it(admin_client: Client) -> None:
    document = DocumentFactory()
    faq = FAQFactory(question="How much is <b>it</b>?", documents=[document])
    recent = CitationFactory(document=document)
    CitationFactory(document=document, message=recent.message, n=2)
    long_ago = CitationFactory(document=document).message
    type(long_ago).objects.filter(pk=long_ago.pk).update(created_at=timezone.now() - timedelta(days=40))
    page = admin_client.get(change_page(document)).content.decode()
    assert "Cited in 1 answer of the last 30 days" in page
    assert f'href="{reverse("impact-document", args=[document.pk])}"' in page
    assert reverse("admin:faqs_faq_change", args=[faq.pk]) in page
    assert "How much is &lt;b&gt;it&lt;/b&gt;?" in page


def test_who_may_not_see_faqs_gets_no_link_to_them(client: Client) -> None:
    client.force_login(UserFactory(permissions=["knowledge.view_document"]))
    document = DocumentFactory()
    faq = FAQFactory(documents=[document])
    page = client.get(change_page(document)).content.decode()
    assert faq.question in page
    assert reverse("admin:faqs_faq_change", args=[faq.pk]) not in page


def test_indexing_anew_is_queued_even_where_nothing_changed(
    admin_client: Client, queued: Mock, django_capture_on_commit_callbacks: Callable[..., Any]
) -> None:
    document = DocumentFactory()
    sync_document(document.pk)
    with django_capture_on_commit_callbacks(execute=True):
        page = admin_client.post(reverse(LIST), {"action": "reindex", "_selected_action": [document.pk]}, follow=True)
    assert "1 document is being reindexed." in page.content.decode()
    queued.assert_called_once_with(document.pk)
    assert not is_indexed(document)
    assert Passage.objects.live().filter(document=document).exists()
    sync_document(document.pk)
    assert is_indexed(document)


def test_the_list_is_narrowed_by_the_languages_there_are(admin_client: Client) -> None:
    DocumentFactory(title="English", language="en")
    page = admin_client.get(reverse(LIST)).content.decode()
    assert "?language=en" not in page
    DocumentFactory(title="Deutsch", language="de")
    DocumentFactory(title="Noch eins", language="de")
    page = admin_client.get(reverse(LIST)).content.decode()
    assert page.count("?language=de") == page.count("?language=en") == 1
    assert titles(admin_client.get(reverse(LIST), {"language": "de"})) == {"Deutsch", "Noch eins"}


@pytest.mark.parametrize(("typed", "kept"), [("null", {}), ("", {}), ('{"author": "Library"}', {"author": "Library"})])
def test_further_data_is_by_name_or_there_is_none(admin_client: Client, typed: str, kept: dict[str, str]) -> None:
    document = DocumentFactory(metadata={"author": "Nobody"})
    admin_client.post(change_page(document), fill_form(document, metadata=typed))
    document.refresh_from_db()
    assert document.metadata == kept


@pytest.mark.parametrize("typed", ["[1, 2]", '"x"', "3"])
def test_further_data_of_another_shape_is_refused(admin_client: Client, typed: str) -> None:
    document = DocumentFactory()
    page = admin_client.post(change_page(document), fill_form(document, metadata=typed))
    assert "Write it as names and values" in page.content.decode()


@pytest.mark.django_db(transaction=True)
def test_of_two_who_save_at_once_each_version_is_kept() -> None:
    pk = DocumentFactory(text="zero").pk
    first, second = Document.objects.get(pk=pk), Document.objects.get(pk=pk)
    first.text, second.text = "one", "two"

    def save_second() -> None:
        try:
            second.save()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            first.save()
            saving = pool.submit(save_second)
            with pytest.raises(TimeoutError):
                saving.result(timeout=0.5)
        saving.result(timeout=10)
    assert {each.text for each in Document.objects.get(pk=pk).revisions.all()} == {"zero", "one"}


@pytest.mark.parametrize("typed", ["Deutsch!", "german language", "d"])
def test_a_language_is_a_tag(admin_client: Client, typed: str) -> None:
    page = admin_client.post(change_page(DocumentFactory()), fill_form(DocumentFactory(), language=typed[:12]))
    assert "Write a language such as en or de." in page.content.decode()
