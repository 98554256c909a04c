"""What the words of a question are read as finds pages that have none of them."""

import pytest
from django.test import Client
from django.urls import reverse

from chat.pipeline.retrieval.profiles import PROFILES, retrieve_with
from knowledge.indexing.documents import sync_document
from knowledge.indexing.generations import live_generation
from knowledge.models import Abbreviation, Collection, Document
from knowledge.retrieval.lexical import LexicalRetriever
from knowledge.retrieval.scope import build_scope
from knowledge.retrieval.types import Query
from knowledge.words.readings import Reading, Step
from tests.factories import CollectionFactory, DocumentFactory

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _nothing_is_queued(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("knowledge.tasks.index_document.delay", lambda _id: None)


def page(text: str, **values: object) -> Document:
    document: Document = DocumentFactory(text=text, **values)
    sync_document(document.pk)
    return document


def search(text: str, *readings: Reading) -> list[int]:
    query = Query(text, None, live_generation().pk, readings=readings)
    return [hit.document_id for hit in LexicalRetriever().retrieve(query, k=10, scope=build_scope())]


@pytest.mark.parametrize(
    ("asked", "text", "language"),
    [
        ("Prüfungsanmeldung", "Die Anmeldung ist bis zur Prüfung möglich.", "de"),
        ("Anmeldung zur Prüfung", "Prüfungsanmeldungen und Prüfungsanmeldung", "de"),
        ("VPD", "Die Vorprüfungsdokumentation kostet nichts.", "de"),
        ("Vorprüfungsdokumentation", "The VPD is free.", "en"),
        ("the 1st year", "The first one is free.", "en"),
        ("zwölf", "Es dauert 12 Wochen.", "de"),
        ("dorm", "Das Wohnheim liegt am See.", "de"),
        ("Kita", "The kindergarten is closed.", "en"),
        ("libary", "The library lends books.", "en"),
    ],
)
def test_a_question_in_other_words_finds_the_page(asked: str, text: str, language: str) -> None:
    wanted = page(text, language=language)
    explained = page("Something else: the Vorprüfungsdokumentation (VPD).", collection=wanted.collection)
    found = retrieve_with(PROFILES["default"], asked, scope=build_scope(), k=5)
    assert wanted.pk in {hit.document_id for hit in found.runs["lexical"]}
    assert found.readings
    published = retrieve_with(PROFILES["bm25"], asked, scope=build_scope(), k=5)
    assert {hit.document_id for hit in published.hits} <= {explained.pk}
    assert not published.readings


def test_a_page_with_the_word_itself_comes_before_one_with_what_it_was_read_as() -> None:
    other = page("The residence has rooms.")
    own = page("The dorm has rooms.", collection=other.collection)
    reading = Reading(Step.SYNONYMS, "dorm", ("residence",))
    assert search("dorm", reading) == [own.pk, other.pk]


def test_of_a_phrase_a_page_must_have_all_words() -> None:
    page("The residence is far.")
    whole = page("The residence hall is near.")
    assert search("dorm", Reading(Step.SYNONYMS, "dorm", ("residence hall",))) == [whole.pk]


def test_a_word_and_what_it_was_read_as_do_not_count_twice() -> None:
    both = page("dorm residence")
    (once,) = {hit.score for hit in LexicalRetriever().retrieve(
        Query("dorm", None, live_generation().pk), k=5, scope=build_scope())}  # fmt: skip
    readings = (Reading(Step.SYNONYMS, "dorm", ("residence",)),)
    query = Query("dorm", None, live_generation().pk, readings=readings)
    (hit,) = LexicalRetriever().retrieve(query, k=5, scope=build_scope())
    assert (hit.document_id, hit.score) == (both.pk, pytest.approx(once))


def test_readings_find_pages_in_several_collections() -> None:
    first, second = page("residence one"), page("residence two", collection=CollectionFactory())
    assert set(search("dorm", Reading(Step.SYNONYMS, "dorm", ("residence",)))) == {first.pk, second.pk}


@pytest.fixture
def collection() -> Collection:
    collection: Collection = CollectionFactory()
    page("Die Prüfungsordnung gilt.", language="de", collection=collection)
    return collection


def save(client: Client, collection: Collection, short: str, long: str) -> None:
    listed = list(Abbreviation.objects.filter(collection=collection))
    rows = {"abbreviations-TOTAL_FORMS": 1, "abbreviations-INITIAL_FORMS": len(listed)}
    for number, each in enumerate(listed):
        rows[f"abbreviations-{number}-id"] = each.pk
        rows[f"abbreviations-{number}-collection"] = collection.pk
    rows |= {"abbreviations-0-short": short, "abbreviations-0-long": long}
    form = {"name": collection.name, "slug": collection.slug, "searched_by_default": "on", **rows}
    address = reverse("admin:knowledge_collection_change", args=[collection.pk])
    assert client.post(address, form).status_code == 302


def test_an_abbreviation_that_staff_list_is_read_at_once_and_after_every_edit(
    admin_client: Client, collection: Collection
) -> None:
    def finds(text: str) -> bool:
        return bool(retrieve_with(PROFILES["default"], text, scope=build_scope(), k=5).runs["lexical"])

    assert not finds("PO")
    save(admin_client, collection, "PO", "Prüfungsordnung")
    assert finds("PO")
    save(admin_client, collection, "PrO", "Prüfungsordnung")
    assert (finds("PO"), finds("pro"), finds("PrO")) == (False, True, True)
    assert str(Abbreviation.objects.get()) == "PrO: Prüfungsordnung"


def test_an_abbreviation_is_read_only_where_its_collection_is_searched(collection: Collection) -> None:
    other = page("Die Prüfungsordnung einer anderen Universität.", language="de").collection
    Abbreviation.objects.create(collection=collection, short="PO", long="Prüfungsordnung")
    scope = build_scope([other.slug])
    assert not retrieve_with(PROFILES["default"], "PO", scope=scope, k=5).readings
