"""FAQs that ask the same: found by meaning, merged, or remembered as no duplicates."""

from datetime import date

import pytest
from django.contrib.auth.models import Group
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from faqs.duplicates import Relation, ValidityScope, close_to, compare, compare_pending, not_compared, relation
from faqs.indexing import sync_faq
from faqs.models import FAQ, SimilarPair
from knowledge.indexing.generations import live_generation
from tests.factories import CollectionFactory, DocumentFactory, FAQFactory, UserFactory

PAGE = "admin:faqs_faq_duplicates"


def holding(*documents: int, since: date | None = None, until: date | None = None) -> ValidityScope:
    return ValidityScope(frozenset(documents), since, until)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (holding(1), holding(1), Relation.SAME),
        (holding(1), holding(), Relation.SAME),
        (holding(1), holding(2), Relation.CONFLICT),
        (holding(1, until=date(2026, 3, 31)), holding(2, since=date(2026, 4, 1)), Relation.APART),
        (holding(1, until=date(2026, 4, 1)), holding(1, since=date(2026, 4, 1)), Relation.CONFLICT),
        (holding(1, until=date(2026, 4, 1)), holding(1, until=date(2026, 4, 1)), Relation.SAME),
    ],
)
def test_what_two_faqs_with_one_meaning_are_to_each_other(
    one: ValidityScope, other: ValidityScope, expected: Relation
) -> None:
    assert relation(one, other) == relation(other, one) == expected


def indexed(question: str, **values: object) -> FAQ:
    faq: FAQ = FAQFactory(question=question, **values)
    sync_faq(faq.pk)
    compare(faq.pk)
    return faq


def pairs() -> set[frozenset[int]]:
    return {frozenset((pair.first_id, pair.second_id)) for pair in SimilarPair.objects.to_look_at()}


DEADLINE = "When is the application deadline for the {}?"


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("one", "other"),
    [
        (DEADLINE.format("M.Sc. Data Science"), DEADLINE.format("B.Sc. Computer Science")),
        (DEADLINE.format("M.Sc. Data Science"), DEADLINE.format("M.Sc. Data Engineering")),
        ("How do I apply for a bachelor programme?", "How do I apply for a master's programme?"),
        ("When is the exam of CS-101?", "When is the exam of CS 102?"),
        ("When does the winter semester 2025/26 begin?", "When does the winter semester 2026/27 begin?"),
    ],
)
def test_questions_about_other_programmes_courses_and_years_do_not_ask_the_same(one: str, other: str) -> None:
    first, second = indexed(one), indexed(other)
    assert pairs() == set()
    near = {each.faq_id: each.asks_the_same for each in close_to(one, language="en", but=0, collections=None)}
    assert near == {first.pk: True, second.pk: False}


@pytest.mark.django_db
def test_questions_about_one_programme_ask_the_same() -> None:
    one, other = (indexed(DEADLINE.format(name)) for name in ("M.Sc. Data Science", "Master of Data Science"))
    assert pairs() == {frozenset((one.pk, other.pk))}


@pytest.mark.django_db
def test_faqs_that_ask_the_same_are_found_once_and_others_are_not() -> None:
    one = indexed("How much is the semester fee?")
    other = indexed("What is the amount of the semester fee?")
    indexed("When does the library close?")
    assert pairs() == {frozenset((one.pk, other.pk))}
    compare(one.pk)
    assert SimilarPair.objects.count() == 1


@pytest.mark.django_db
def test_any_phrasing_counts_but_neither_another_language_nor_a_data_set() -> None:
    one = indexed("Costs?", phrasings=["How much is the semester fee?"])
    other = indexed("How much is the semester fee, please?", phrasings=["What must I pay?"])
    indexed("How much is the semester fee?", language="de")
    hidden = CollectionFactory(for_evaluation=True)
    indexed("How much is the semester fee?", documents=[DocumentFactory(collection=hidden)])
    assert pairs() == {frozenset((one.pk, other.pk))}


@pytest.mark.django_db
def test_a_pair_goes_when_one_asks_something_else_or_retires() -> None:
    one, other = indexed("How much is the semester fee?"), indexed("How high is the semester fee?")
    FAQ.objects.filter(pk=other.pk).update(question="When does the library close?")
    sync_faq(other.pk)
    assert list(not_compared(live_generation().pk)) == [FAQ.objects.get(pk=other.pk)]
    assert compare_pending() == 1
    assert not pairs()
    FAQ.objects.filter(pk=other.pk).update(question=one.question)
    sync_faq(other.pk)
    compare(other.pk)
    assert pairs()
    FAQ.objects.filter(pk=other.pk).update(status="retired")
    assert not pairs()


@pytest.mark.django_db
def test_merging_moves_phrasings_and_documents_and_retires_the_other(admin_client: Client) -> None:
    first, second = DocumentFactory.create_batch(2)
    keep = indexed("How much is the semester fee?", phrasings=["a", "b"], documents=[first], status="published")
    other = indexed("How high is the semester fee?", phrasings=["b", "c"], documents=[second, first])
    pair = SimilarPair.objects.get()
    assert "lead to different documents" in admin_client.get(reverse(PAGE)).content.decode()
    merged = admin_client.post(reverse("admin:faqs_faq_merge", args=[pair.pk]), {"keep": keep.pk}, follow=True)
    assert "To undo it, restore the version before this one" in merged.content.decode()
    keep.refresh_from_db()
    other.refresh_from_db()
    assert (keep.status, other.status) == ("published", "retired")
    assert list(keep.phrasings.values_list("text", flat=True)) == ["a", "b", "How high is the semester fee?", "c"]
    assert list(keep.sources.values_list("document", flat=True)) == [first.pk, second.pk]
    assert not pairs()


@pytest.mark.django_db
@pytest.mark.parametrize(("answer", "taken"), [("take", "Five days."), ("leave", "")])
def test_an_answer_that_only_the_other_one_has_is_shown_and_taken_along_only_if_chosen(
    admin_client: Client, answer: str, taken: str
) -> None:
    keep = indexed("How much is the semester fee?", status="published")
    other = indexed("How high is the semester fee?", answer_en="Five days.", office_en="the Office")
    address = reverse("admin:faqs_faq_merge", args=[SimilarPair.objects.get().pk])
    said = admin_client.get(address, {"keep": keep.pk}).content.decode()
    for part in ("Five days.", "Merge with this answer", "Merge without it"):
        assert part in said, part
    assert "Five days." not in admin_client.get(address, {"keep": other.pk}).content.decode()
    admin_client.post(address, {"keep": keep.pk, "answer": answer})
    keep.refresh_from_db()
    assert keep.answer_en == taken


@pytest.mark.django_db
def test_keeping_one_says_first_what_moves_and_what_retires(admin_client: Client) -> None:
    page = DocumentFactory(title="Fees of the term")
    keep = indexed("How much is the semester fee?", phrasings=["a"], status="published")
    other = indexed("How high is the semester fee?", phrasings=["a", "What do I pay?"], documents=[page])
    address = reverse("admin:faqs_faq_merge", args=[SimilarPair.objects.get().pk])
    assert f'href="{address}?keep={keep.pk}"' in admin_client.get(reverse(PAGE)).content.decode()
    response = admin_client.get(address, {"keep": keep.pk})
    said = response.content.decode()
    for part in ("“How high is the semester fee?” retires", "What do I pay?", "Fees of the term", ">Merge<", ">Back<"):
        assert part in said, part
    assert response.context["phrasings"] == ["How high is the semester fee?", "What do I pay?"]
    other.refresh_from_db()
    assert (other.status, keep.phrasings.count()) == ("draft", 1)
    for keep_none in ("", "0", "x"):
        refused = admin_client.post(address, {"keep": keep_none}, follow=True).content.decode()
        assert "Choose first which of the two you keep." in refused
    assert pairs()


@pytest.mark.django_db
def test_no_duplicates_is_remembered(admin_client: Client) -> None:
    one, other = indexed("How much is the semester fee?"), indexed("How high is the semester fee?")
    pair = SimilarPair.objects.get()
    assert admin_client.post(reverse("admin:faqs_faq_dismiss", args=[pair.pk])).status_code == 302
    compare(one.pk)
    compare(other.pk)
    assert not pairs()
    assert "No two FAQs ask the same" in admin_client.get(reverse(PAGE)).content.decode()


@pytest.mark.django_db
def test_the_page_takes_as_many_queries_for_20_pairs_as_for_2(admin_client: Client) -> None:
    counts = []
    for more in (2, 18):
        for _ in range(more):
            faqs = FAQFactory.create_batch(2, phrasings=["So?"], documents=[DocumentFactory()])
            SimilarPair.objects.create(first=faqs[0], second=faqs[1], similarity=0.8)
        with CaptureQueriesContext(connection) as queries:
            assert admin_client.get(reverse(PAGE)).status_code == 200
        counts.append(len(queries))
    assert counts[0] == counts[1]


@pytest.mark.django_db
def test_what_is_typed_is_compared_and_says_what_is_wrong(admin_client: Client) -> None:
    document = DocumentFactory()
    faq = indexed("How much is the semester fee?", documents=[document])
    indexed("When does the library close?")
    typed = {"question": "How high is the semester fee?", "language": "en", "sources-0-document": document.pk}
    page = admin_client.post(reverse("admin:faqs_faq_near"), typed).content.decode()
    assert "How much is the semester fee?" in page
    assert "asks the same<" in page
    assert "library" not in page
    other = typed | {"sources-0-document": DocumentFactory().pk}
    assert "conflict" in admin_client.post(reverse("admin:faqs_faq_near"), other).content.decode()
    itself = typed | {"faq": faq.pk}
    assert "semester" not in admin_client.post(reverse("admin:faqs_faq_near"), itself).content.decode()


@pytest.mark.django_db
def test_a_team_sees_its_own_alone(client: Client) -> None:
    team = Group.objects.create(name="Faculty")
    collection = CollectionFactory()
    collection.teams.add(team)
    client.force_login(UserFactory(permissions=["faqs.view_faq", "faqs.change_faq"], teams=[team]))
    indexed("How much is the semester fee?", collection=CollectionFactory())
    indexed("How high is the semester fee?", collection=collection)
    pair = SimilarPair.objects.get()
    assert "semester" not in client.get(reverse(PAGE)).content.decode()
    assert client.post(reverse("admin:faqs_faq_dismiss", args=[pair.pk])).status_code == 404
    typed = {"question": "How much is the semester fee, please?", "language": "en"}
    page = client.post(reverse("admin:faqs_faq_near"), typed).content.decode()
    assert "How high is" in page
    assert "How much is the semester fee?" not in page


@pytest.mark.django_db
def test_merging_needs_the_permission_to_publish(client: Client) -> None:
    client.force_login(UserFactory(permissions=["faqs.view_faq", "faqs.change_faq"]))
    one, _other = indexed("How much is the semester fee?"), indexed("How high is the semester fee?")
    address = reverse("admin:faqs_faq_merge", args=[SimilarPair.objects.get().pk])
    client.post(address, {"keep": one.pk})
    said = client.get(address, {"keep": one.pk}, follow=True)
    assert "only who may publish can do that" in said.content.decode()
    assert set(FAQ.objects.values_list("status", flat=True)) == {"draft"}
