"""A document that does not hold for who asks, or not today, is found by no retriever."""

from datetime import date, timedelta

import pytest
from django.core.exceptions import ValidationError
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.inference.embeddings import get_embedder
from faqs.indexing import sync_faq
from faqs.retriever import FAQRetriever
from knowledge.indexing.documents import sync_document
from knowledge.indexing.generations import live_generation
from knowledge.models import Document
from knowledge.retrieval.dense import DenseRetriever
from knowledge.retrieval.lexical import LexicalRetriever
from knowledge.retrieval.scope import build_scope
from knowledge.retrieval.types import Query, Retriever, Scope
from knowledge.services.documents import delete_documents, save_document
from tests.factories import CollectionFactory, DocumentFactory, FAQFactory

pytestmark = pytest.mark.django_db
TODAY = date(2026, 11, 21)
DAY = timedelta(days=1)
RETRIEVERS = [LexicalRetriever(), DenseRetriever(), FAQRetriever()]


@pytest.fixture(autouse=True)
def _nothing_is_queued(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("knowledge.tasks.index_document.delay", lambda _id: None)


def page(**values: object) -> Document:
    document: Document = DocumentFactory(text="A parking permit costs 12 euros.", **values)
    sync_document(document.pk)
    sync_faq(FAQFactory(question="What does a parking permit cost?", documents=[document], status="published").pk)
    return document


def found(retriever: Retriever, **scope: object) -> set[int]:
    text = "parking permit"
    query = Query(text=text, vector=get_embedder().embed([text])[0], generation_id=live_generation().pk)
    hits = retriever.retrieve(query, k=20, scope=Scope(build_scope().collection_ids, **({"on": TODAY} | scope)))  # type: ignore[arg-type]
    return {hit.document_id for hit in hits}


@pytest.fixture(params=RETRIEVERS, ids=[retriever.origin.value for retriever in RETRIEVERS])
def retriever(request: pytest.FixtureRequest) -> Retriever:
    chosen: Retriever = request.param
    if chosen.origin == "faq":
        return FAQRetriever(faqs=20)
    return chosen


def test_a_document_is_found_on_the_days_it_is_valid(retriever: Retriever) -> None:
    always, from_today, until_today = page(), page(valid_from=TODAY), page(valid_until=TODAY)
    expired, upcoming = page(valid_until=TODAY - DAY), page(valid_from=TODAY + DAY)
    assert found(retriever) == {always.pk, from_today.pk, until_today.pk}
    assert found(retriever, on=TODAY - DAY) == {always.pk, until_today.pk, expired.pk}
    assert found(retriever, on=TODAY + DAY) == {always.pk, from_today.pk, upcoming.pk}


def test_a_language_asked_for_excludes_the_others(retriever: Retriever) -> None:
    english, german, austrian = page(), page(language="de"), page(language="de-AT")
    assert found(retriever) == {english.pk, german.pk, austrian.pk}
    assert found(retriever, language="de") == {german.pk, austrian.pk}
    assert found(retriever, language="fr") == set()


def test_an_audience_excludes_what_holds_for_others_of_the_same_kind(retriever: Retriever) -> None:
    everyone = page()
    old, new = page(audience=["regulation:2019"]), page(audience=["regulation:2024"])
    both = page(audience=["regulation:2019", "regulation:2024"])
    physics_old = page(audience=["programme:physics", "regulation:2019"])
    pages = {everyone.pk, old.pk, new.pk, both.pk, physics_old.pk}
    assert found(retriever) == pages  # nothing is known of who asks
    assert found(retriever, audience=("regulation:2024",)) == {everyone.pk, new.pk, both.pk}
    assert found(retriever, audience=("programme:law",)) == pages - {physics_old.pk}
    assert found(retriever, audience=("programme:physics", "regulation:2019")) == pages - {new.pk}
    assert found(retriever, audience=("campus:north",)) == pages


def test_an_edit_of_the_scope_counts_at_once(retriever: Retriever) -> None:
    document = page()
    assert found(retriever) == {document.pk}
    document.valid_until = TODAY - DAY
    save_document(document=document)
    sync_document(document.pk)
    assert found(retriever) == set()
    document.valid_until, document.audience = None, ["regulation:2019"]
    save_document(document=document)
    sync_document(document.pk)
    assert found(retriever) == {document.pk}
    assert found(retriever, audience=("regulation:2024",)) == set()


KINDS = st.sampled_from(["programme:a", "programme:b", "regulation:1", "regulation:2", "campus:x"])


@pytest.mark.slow
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(KINDS, unique=True, max_size=3), max_size=4), st.lists(KINDS, unique=True, max_size=3))
def test_words_and_meanings_agree_on_any_audience(tags: list[list[str]], asked: list[str]) -> None:
    delete_documents(documents=Document.objects.all())
    collection = CollectionFactory()
    expected = set()
    for each in tags:
        document = DocumentFactory(text="A parking permit costs 12 euros.", audience=each, collection=collection)
        sync_document(document.pk)
        kinds = {tag.split(":")[0] for tag in each} & {tag.split(":")[0] for tag in asked}
        if all({tag for tag in each if tag.startswith(f"{kind}:")} & set(asked) for kind in kinds):
            expected.add(document.pk)
    for one in (LexicalRetriever(), DenseRetriever()):
        assert found(one, audience=tuple(asked)) == expected


@pytest.mark.parametrize("tag", ["", "2019", "Regulation:2019", ":2019", "regulation:", "a:b:c", "a:b,c"])
def test_a_tag_that_is_none_is_refused(tag: str) -> None:
    document = DocumentFactory.build(collection=CollectionFactory(), audience=[tag])
    with pytest.raises(ValidationError):
        save_document(document=document)


def test_dates_the_wrong_way_round_are_refused() -> None:
    document = DocumentFactory.build(collection=CollectionFactory(), valid_from=TODAY, valid_until=TODAY - DAY)
    with pytest.raises(ValidationError, match="Valid until"):
        save_document(document=document)
