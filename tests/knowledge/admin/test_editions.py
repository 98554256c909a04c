"""Editions in the admin: the list of groups, joining and parting documents, correcting a term."""

import pytest
from django.contrib.admin.models import LogEntry
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from knowledge.indexing.documents import sync_document
from knowledge.models import Collection, Document, Edition, EditionGroup
from knowledge.services.documents import delete_document
from knowledge.tasks import index_document, index_pending_documents, place_edition
from tests.factories import CollectionFactory, DocumentFactory, UserFactory
from tests.knowledge.admin.test_documents import change_page, fill_form

pytestmark = pytest.mark.django_db
DOCUMENTS, GROUPS = (reverse(f"admin:knowledge_{name}_changelist") for name in ("document", "editiongroup"))


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: object) -> None:
    monkeypatch.setattr(index_document, "delay", index_document)
    monkeypatch.setattr(place_edition, "delay", place_edition)


@pytest.fixture
def collection() -> Collection:
    found: Collection = CollectionFactory()
    return found


def page(collection: Collection, title: str, **values: object) -> Document:
    path = title.lower().replace(" ", "-").replace("/", "-")
    fields = {"collection": collection, "title": title, "url": f"https://www.uni.example/{path}"}
    document: Document = DocumentFactory(**(fields | values))
    sync_document(document.pk)
    return document


def do(client: Client, action: str, *documents: Document, address: str = DOCUMENTS) -> HttpResponse:
    data = {"action": action, "_selected_action": [document.pk for document in documents]}
    response: HttpResponse = client.post(address, data, follow=True)
    return response


def test_the_list_names_each_groups_terms_in_the_readers_language(admin_client: Client, collection: Collection) -> None:
    for term in ("WS 2024/25", "SoSe 2025"):
        page(collection, f"Fees {term}")
    page(collection, "Library")
    english = admin_client.get(GROUPS).content.decode()
    german = admin_client.get(GROUPS, headers={"accept-language": "de"}).content.decode()
    assert "Summer term 2025 · Winter term 2024/25" in english
    assert "Sommersemester 2025 · Wintersemester 2024/25" in german
    assert "Library" not in english
    detail = admin_client.get(reverse("admin:knowledge_editiongroup_change", args=[EditionGroup.objects.get().pk]))
    assert detail.content.decode().count(">current<") == 1


def test_the_list_takes_as_many_queries_for_twenty_groups_as_for_two(
    admin_client: Client, collection: Collection
) -> None:
    counts = []
    for names in ("ab", "cdefghijklmnopqrstuv"):
        for name in names:
            for year in (2024, 2025):
                page(collection, f"Fees for {name * 3} {year}")
        with CaptureQueriesContext(
            connection,
        ) as queries:
            assert admin_client.get(GROUPS).status_code == 200
        counts.append(len(queries))
    assert EditionGroup.objects.count() == 20 + 2
    assert counts[0] == counts[1]


def test_staff_join_documents_that_were_not_found_and_what_they_joined_stays(
    admin_client: Client, collection: Collection
) -> None:
    one, other = page(collection, "Fees 2024"), page(collection, "What you pay in 2025")
    assert EditionGroup.objects.count() == 0
    assert "They are now editions of" in do(admin_client, "join_editions", one, other).content.decode()
    assert EditionGroup.objects.get().editions.count() == 2
    for document in (one, other):
        document.text += "More."
        document.save()
        sync_document(document.pk)
    third = page(collection, "Fees 2026", text=one.text)
    assert set(EditionGroup.objects.get().editions.values_list("pk", flat=True)) == {one.pk, other.pk, third.pk}
    assert LogEntry.objects.filter(change_message__contains="edition").count() == 2


def test_staff_part_documents_and_let_their_editions_be_found_again(
    admin_client: Client, collection: Collection
) -> None:
    one, other, third = (page(collection, f"Fees {year}") for year in (2024, 2025, 2026))
    assert "1 document stands alone now." in do(admin_client, "part_editions", other).content.decode()
    sync_document(other.pk)
    assert set(EditionGroup.objects.get().editions.values_list("pk", flat=True)) == {one.pk, third.pk}
    other.text += "More."
    other.save()
    sync_document(other.pk)
    assert Edition.objects.get(document=other).group is None
    do(admin_client, "release_editions", other)
    assert EditionGroup.objects.get().editions.count() == 3
    group = EditionGroup.objects.get()
    do(admin_client, "part", group, address=GROUPS)  # type: ignore[arg-type]
    assert EditionGroup.objects.count() == 0


@pytest.mark.parametrize(
    ("titles", "said"),
    [
        (["Fees 2024"], "Choose at least two documents."),
        (["Fees 2024", "Library"], "No term or year was found for Library"),
        (["Fees 2024", "Fees PO 2019"], "these are no editions"),
    ],
)
def test_what_cannot_be_joined_is_said(
    admin_client: Client, collection: Collection, titles: list[str], said: str
) -> None:
    documents = [page(collection, title) for title in titles]
    assert said in do(admin_client, "join_editions", *documents).content.decode()
    assert EditionGroup.objects.count() == 0


def test_documents_of_two_collections_are_not_joined(admin_client: Client, collection: Collection) -> None:
    documents = [page(collection, "Fees 2024"), page(CollectionFactory(), "Fees 2025")]
    assert "in one collection" in do(admin_client, "join_editions", *documents).content.decode()


def test_a_term_is_corrected_in_the_form_and_nonsense_is_refused(
    admin_client: Client, collection: Collection, django_capture_on_commit_callbacks: object
) -> None:
    document = page(collection, "Fees 2024")
    refused = admin_client.post(change_page(document), fill_form(document, term="soon"))
    assert "Write one term or year" in refused.content.decode()
    with django_capture_on_commit_callbacks(execute=True):  # type: ignore[operator]
        saved = admin_client.post(change_page(document), fill_form(document, term=" WS 25/26 "))
    assert saved.status_code == 302
    assert Document.objects.get().term == "WS 25/26"
    assert "As corrected: Winter term 2025/26" in admin_client.get(change_page(document)).content.decode()
    assert Edition.objects.get().kind == "winter"


def test_a_new_address_is_read_too(
    admin_client: Client, collection: Collection, django_capture_on_commit_callbacks: object
) -> None:
    document = page(collection, "Fees", url="https://www.uni.example/fees")
    assert Edition.objects.get().kind == ""
    with django_capture_on_commit_callbacks(execute=True):  # type: ignore[operator]
        admin_client.post(change_page(document), fill_form(document, url="https://www.uni.example/fees-ws-2025-26"))
    assert Edition.objects.get().kind == "winter"


def test_documents_from_before_there_were_editions_are_read_by_the_task(collection: Collection) -> None:
    for year in (2024, 2025):
        page(collection, f"Fees {year}")
    Edition.objects.all().delete()
    EditionGroup.objects.all().delete()
    index_pending_documents()
    assert EditionGroup.objects.get().editions.count() == 2


def test_a_deleted_document_leaves_no_group_of_one(admin_client: Client, collection: Collection) -> None:
    one, other = (page(collection, f"Fees {year}") for year in (2024, 2025))
    delete_document(document=other)
    assert "Fees" not in admin_client.get(GROUPS).content.decode().partition("<main")[2]
    assert "It has no other editions." in admin_client.get(change_page(one)).content.decode()


def test_a_curator_sees_and_parts_the_groups_of_their_own_team_alone(collection: Collection, client: Client) -> None:
    for year in (2024, 2025):
        page(collection, f"Fees {year}")
    permissions = ["knowledge.view_editiongroup", "knowledge.change_editiongroup"]
    client.force_login(UserFactory(permissions=permissions, teams=[]))
    group = EditionGroup.objects.get()
    do(client, "part", group, address=GROUPS)  # type: ignore[arg-type]
    assert group.editions.count() == 2


def test_the_form_leads_to_the_groups_documents(admin_client: Client, collection: Collection) -> None:
    for year in (2024, 2025):
        page(collection, f"Fees {year}")
    page(collection, "Library")
    group = EditionGroup.objects.get()
    shown = admin_client.get(f"{DOCUMENTS}?edition__group__id__exact={group.pk}").content.decode()
    assert "Fees 2024" in shown
    assert ">Library<" not in shown
