"""`verify_index` proves that the index equals the database, and finds each way in which it does not."""

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from faqs.indexing import sync_faq
from faqs.models import FAQ, FAQVector
from knowledge.indexing.documents import sync_document, sync_pending
from knowledge.indexing.generations import live_generation
from knowledge.models import Collection, Document, Passage, Unit
from knowledge.retrieval.bm25.index import LexicalIndex
from knowledge.services.documents import delete_document
from knowledge.services.verification import retrievable_entries
from tests.factories import CollectionFactory, DocumentFactory, FAQFactory

pytestmark = pytest.mark.django_db(transaction=True)

TEXT = "# Fees\n\nThe fee is 318 euros.\n\n# Parking\n\nA permit costs 12 euros. It holds for a year."


@pytest.fixture(autouse=True)
def _index() -> None:
    collection = CollectionFactory(granularities=["sentence"])
    DocumentFactory(title="Money", text=TEXT, collection=collection)
    DocumentFactory(title="Library", valid_from="2020-01-01")
    DocumentFactory(title="Draft", status=Document.Status.DRAFT)
    sync_pending()
    sync_faq(FAQFactory(question="What does parking cost?", reference_answer="12 euros a year.").pk)


def verify(*options: str) -> dict[str, Any]:
    """Return the wrong parts, by name."""
    out = StringIO()
    try:
        call_command("verify_index", "--json", *options, stdout=out)
        failed = False
    except CommandError:
        failed = True
    report = json.loads(out.getvalue())
    assert report["equal"] is not failed
    return {part["name"]: part["faults"] for part in report["parts"] if part["wrong"]}


def test_a_fresh_index_equals_the_database() -> None:
    assert verify() == {}
    assert verify("--every-vector") == {}


def test_an_empty_database_is_equal() -> None:
    FAQ.objects.all().delete()
    Document.objects.all().delete()
    assert verify() == {}


def test_a_document_that_is_not_indexed_is_named() -> None:
    document = DocumentFactory()
    assert list(verify()) == ["documents"]
    assert f"document {document.pk}" in verify()["documents"][0]


def test_words_changed_behind_the_index_are_found() -> None:
    Document.objects.filter(title="Money").update(text="Something else.")
    assert set(verify()) == {"documents", "passages"}


def test_a_passage_that_is_missing_is_found() -> None:
    Passage.objects.filter(text__contains="318").delete()
    assert "passages" in verify()


def test_a_passage_with_other_words_is_found() -> None:
    Passage.objects.filter(text__contains="318").update(text="The fee is 0 euros.")
    assert {"passages", "vectors"} <= set(verify("--every-vector"))


def test_a_vector_of_another_text_is_found() -> None:
    first, second = Passage.objects.filter(document__title="Money")
    Passage.objects.filter(pk=first.pk).update(embedding=second.embedding)
    assert "vectors" in verify("--every-vector")


def test_a_sentences_vector_of_another_text_is_found() -> None:
    first, second = Unit.objects.order_by("pk")[:2]
    Unit.objects.filter(pk=first.pk).update(embedding=second.embedding)
    assert verify().keys() == verify("--every-vector").keys() == {"vectors"}


def test_a_vector_that_is_no_unit_vector_is_found() -> None:
    passage = Passage.objects.first()
    assert passage
    Passage.objects.filter(pk=passage.pk).update(embedding=[2 * number for number in passage.embedding])
    assert "vectors" in verify()


def test_a_sentence_that_is_missing_is_found() -> None:
    Unit.objects.filter(text__contains="318").delete()
    assert list(verify()) == ["sentences and propositions"]


def test_a_granularity_that_was_switched_off_counts_as_pending() -> None:
    Collection.objects.update(granularities=[])
    assert list(verify()) == ["documents"]


def test_faq_vectors_that_are_missing_or_of_another_text_are_found() -> None:
    vector = FAQVector.objects.get(kind="answers")
    FAQVector.objects.filter(kind="asks").update(embedding=vector.embedding)
    assert list(verify()) == ["FAQ vectors"]
    FAQVector.objects.all().delete()
    assert list(verify()) == ["FAQ vectors"]


def test_a_lexical_index_that_followed_every_change_holds_what_one_made_anew_holds() -> None:
    index = LexicalIndex(live_generation().pk)
    index.follow()
    document = Document.objects.get(title="Money")
    document.text += "\n\n# More\n\nAnother passage."
    document.save()
    sync_document(document.pk)
    delete_document(document=Document.objects.get(title="Library"))
    index.follow()
    assert index.contents() == retrievable_entries(live_generation().pk)
    Passage.objects.filter(document=document).first().delete()
    assert index.contents() != retrievable_entries(live_generation().pk)
