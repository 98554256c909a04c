"""Contradictions are found at night and after an edit, close by themselves, and stay dismissed until a text changes."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import Settings

from analytics.contradictions import run
from analytics.contradictions.collect import document_key
from analytics.contradictions.nearby import read_near
from analytics.contradictions.run import compare_all
from analytics.contradictions.services import dismiss_contradiction, reopen_contradiction
from analytics.models import Contradiction
from analytics.tasks import compare_changed_pages, find_contradictions
from chat.models import Citation
from core.db.locks import Lock, advisory_lock
from core.inference.embeddings.ensemble import JOINED
from faqs.answers.pages import sync_pages
from faqs.indexing import sync_faq
from faqs.models import FAQ
from knowledge.indexing.documents import sync_pending
from knowledge.models import Document
from knowledge.services.documents import save_document
from tests.factories import (
    AssistantFactory,
    CitationFactory,
    CollectionFactory,
    CourseFactory,
    DocumentFactory,
    FAQFactory,
    UserFactory,
)
from tests.runtime.processes import ROOT

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

FEE, OTHER_FEE = (
    "The semester contribution for all students is €318.40.",
    "The semester contribution for all students is €340.",
)
ELSE = "The library lends laptops at its information desk every day."


@pytest.fixture(autouse=True)
def _nothing_is_queued(monkeypatch: pytest.MonkeyPatch) -> None:
    for task in ("faqs.tasks.index_faq", "faqs.tasks.fit_matcher", "knowledge.tasks.index_document"):
        monkeypatch.setattr(f"{task}.delay", lambda *_ids: None)
    monkeypatch.setattr(run, "SETTLED", timedelta())


def page(text: str, **values: Any) -> Document:
    document: Document = DocumentFactory(text=f"{text}\n\n{ELSE}", **values)
    return document


@pytest.fixture
def pages() -> list[Document]:
    collection = CollectionFactory()
    found = [page(FEE, title="Fees", collection=collection), page(OTHER_FEE, title="Money", collection=collection)]
    sync_pending()
    return found


def load_demo_pages() -> None:
    collection = CollectionFactory()
    for path in sorted((ROOT / "marcelcms" / "demo" / "pages").glob("*.md")):
        head, _, text = path.read_text("utf-8").partition("\n\n")
        fields = dict(line.split(": ", 1) for line in head.splitlines())
        DocumentFactory(
            url=fields["URL"], title=fields["Title"], language=fields["Language"], text=text, collection=collection
        )
    sync_pending()


def edit(document: Document, text: str) -> None:
    document.text = text
    save_document(document=document)
    sync_pending()
    compare_changed_pages()


def states() -> list[str]:
    return list(Contradiction.objects.order_by("pk").values_list("state", flat=True))


def test_a_night_finds_what_an_edit_settles_and_brings_back(pages: list[Document]) -> None:
    find_contradictions()
    (row,) = Contradiction.objects.all()
    assert {row.first_text, row.second_text} == {FEE, OTHER_FEE}
    assert (row.kind, row.state) == ("figure", "open")
    compare_all()
    assert states() == ["open"]
    edit(pages[1], FEE)
    assert states() == ["gone"]
    edit(pages[1], OTHER_FEE)
    assert states() == ["open"]


def test_an_edit_reads_what_is_near_and_not_everything(pages: list[Document]) -> None:
    for number in range(60):
        DocumentFactory(text=f"Room {number} of the {number}th tower has a piano.", collection=pages[0].collection)
    sync_pending()
    compare_all()
    read = read_near(documents=[pages[1].pk], faqs=[])
    assert {document_key(page.pk) for page in pages} <= {source.owner for source in read.sources}
    assert len(read.sources) < 40
    edit(pages[1], FEE)
    edit(pages[1], OTHER_FEE)
    assert states() == ["open"]


def test_an_edited_amount_contradicts_the_pages_of_the_demo_and_the_night_agrees() -> None:
    load_demo_pages()
    compare_all()
    assert states() == []
    edited = (
        ("en/fees/semester-contribution", "| Late re-registration | €30.00 |", "| Late re-registration | €45.00 |"),
        ("en/fees/semester-contribution", "The contribution is **€318.40**", "The contribution is **€328.40**"),
        ("de/studium/semesterbeitrag", "jeweils **318,40 €**", "jeweils **328,40 €**"),
    )
    for path, before, after in edited:
        document = Document.objects.get(url__endswith=path)
        known = set(Contradiction.objects.values_list("pk", flat=True))
        assert before in document.text
        edit(document, document.text.replace(before, after))
        fresh = Contradiction.objects.exclude(pk__in=known)
        assert {each.kind for each in fresh} == {"figure"}, path
        assert all(document.pk in (each.first_document_id, each.second_document_id) for each in fresh)
    found = set(Contradiction.objects.values_list("pk", "state"))
    compare_all()
    assert set(Contradiction.objects.values_list("pk", "state")) == found


def test_records_of_two_courses_do_not_contradict_each_other() -> None:
    collection = CollectionFactory()
    for code, hours in (("CS-101", 240), ("CS-102", 270)):
        text = f"Workload of the module for all students: {hours} hours."
        CourseFactory(code=code, document=page(text, title=f"{code} Module", collection=collection))
    sync_pending()
    compare_all()
    assert states() == []
    CourseFactory(code="CS-101", document=page("Workload of the module for all students: 270 hours.", title="CS 101"))
    sync_pending()
    compare_all()
    assert states() == ["open"]


def test_a_dismissed_one_stays_dismissed_until_a_text_changes(pages: list[Document]) -> None:
    compare_all()
    user = UserFactory()
    assert dismiss_contradiction(contradiction=Contradiction.objects.get(), by=user)
    assert not dismiss_contradiction(contradiction=Contradiction.objects.get(), by=user)
    compare_all()
    assert states() == ["dismissed"]
    edit(pages[1], FEE)
    edit(pages[1], OTHER_FEE)
    assert states() == ["dismissed"]
    edit(pages[1], OTHER_FEE.replace("340", "350"))
    assert states() == ["gone", "open"]


def test_a_dismissal_is_taken_back(pages: list[Document]) -> None:
    compare_all()
    row = Contradiction.objects.get()
    dismiss_contradiction(contradiction=row, by=UserFactory())
    assert reopen_contradiction(contradiction=row)
    row.refresh_from_db()
    assert (row.state, row.dismissed_at, row.dismissed_by) == ("open", None, None)


def test_an_archived_page_contradicts_nothing(pages: list[Document]) -> None:
    compare_all()
    pages[0].status = Document.Status.ARCHIVED
    save_document(document=pages[0])
    sync_pending()
    compare_changed_pages()
    assert states() == ["gone"]


def test_answers_of_staff_and_key_points_are_compared_with_pages(pages: list[Document]) -> None:
    pages[1].delete()
    collection = pages[0].collection
    given = {"collection": collection, "status": "published"}
    written = FAQFactory(question="What do I pay?", answer_en=OTHER_FEE, **given)
    FAQFactory(question="Fee?", reference_answer=OTHER_FEE.replace("340", "350"), **given)
    sync_pages([written.pk])
    sync_pending()
    compare_all()
    sides = {
        (row.first_document_id, row.first_faq_id, row.second_document_id, row.second_faq_id)
        for row in Contradiction.objects.all()
    }
    assert len(sides) >= 2
    assert any(faq for side in sides for faq in (side[1], side[3]))
    assert any(Document.objects.get(pk=pk).is_written_answer for side in sides for pk in (side[0], side[2]) if pk)


def test_two_languages_of_one_answer_are_compared_at_night_and_after_an_edit(pages: list[Document]) -> None:
    Document.objects.exclude(pk=pages[0].pk).delete()
    german = "Der Semesterbeitrag beträgt für alle Studierenden 328,40 €."
    given = {"collection": pages[0].collection, "status": "published"}
    faq = FAQFactory(question="What do I pay?", answer_de=german, answer_en=FEE, **given)
    sync_pages([faq.pk])
    sync_pending()
    compare_all()
    assert states() == ["open"]
    row = Contradiction.objects.get()
    assert {row.first_text, row.second_text} == {german, FEE}
    for language, text, state in (("de", german.replace("328", "318"), "gone"), ("en", OTHER_FEE, "open")):
        FAQ.objects.filter(pk=faq.pk).update(**{f"answer_{language}": text})
        sync_pages([faq.pk])
        sync_pending()
        compare_changed_pages()
        assert states()[-1] == state
        found = set(Contradiction.objects.values_list("pk", "state"))
        compare_all()
        assert set(Contradiction.objects.values_list("pk", "state")) == found


def test_two_faqs_that_translate_each_other_are_compared(settings: Settings) -> None:
    settings.EMBEDDING_MODEL = JOINED
    given = {"collection": CollectionFactory(), "status": "published"}
    german = "Ein neuer Studierendenausweis kostet 15 €."
    answers = (
        ("de", "Was kostet ein neuer Studierendenausweis?", {"answer_de": german}),
        ("en", "What does a new student card cost?", {"answer_en": "A new student card costs €20."}),
        ("en", "How much is a new library card?", {"answer_en": "A new library card costs €5."}),
        ("en", "Where do I get a new student card?", {"answer_en": "The Student Service Centre gives you one."}),
    )
    faqs = [FAQFactory(language=code, question=asked, **said, **given) for code, asked, said in answers]
    sync_pages([each.pk for each in faqs])
    for each in faqs:
        sync_faq(each.pk)
    sync_pending()
    compare_all()
    row = Contradiction.objects.get()
    assert {row.first_text, row.second_text} == {german, "A new student card costs €20."}
    FAQ.objects.filter(pk=faqs[1].pk).update(answer_en="A new student card costs €15.")
    sync_pages([faqs[1].pk])
    sync_pending()
    compare_changed_pages()
    assert states() == ["gone"]


def test_collections_that_no_assistant_searches_together_are_not_compared() -> None:
    here, there = CollectionFactory(searched_by_default=False), CollectionFactory(searched_by_default=False)
    page(FEE, collection=here)
    page(OTHER_FEE, collection=there)
    sync_pending()
    AssistantFactory().collections.set([here])
    other = AssistantFactory()
    other.collections.set([there])
    assert compare_all() == 0
    other.collections.set([here, there])
    assert compare_all() == 1


def test_what_recent_answers_cited_comes_first(pages: list[Document]) -> None:
    collection = pages[0].collection
    late, later = "Books from the archive are lent for 14 days.", "Books from the archive are lent for 21 days."
    cited = page(late, collection=collection)
    page(later, collection=collection)
    sync_pending()
    compare_all()
    CitationFactory(document=cited)
    old = CitationFactory(document=pages[0])
    old.message.created_at = timezone.now() - timedelta(days=90)
    old.message.save()
    assert Citation.objects.count() == 2
    assert [row.touched for row in Contradiction.objects.for_list()] == [1, 0]
    assert late in {Contradiction.objects.for_list()[0].first_text, Contradiction.objects.for_list()[0].second_text}


def test_two_processes_do_not_compare_at_once(pages: list[Document]) -> None:
    with advisory_lock(Lock.CONTRADICTIONS):
        assert compare_all() is None
        compare_changed_pages()
    assert states() == []
