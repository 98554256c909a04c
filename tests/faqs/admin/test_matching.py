"""The screen that says how FAQs are matched."""

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from faqs.models import Matcher, MatcherFit
from knowledge.indexing.generations import live_generation
from tests.factories import CollectionFactory, UserFactory

pytestmark = pytest.mark.django_db
LIST = "admin:faqs_matcher_changelist"


def fit(matcher: Matcher, **values: object) -> MatcherFit:
    given = {
        "generation": live_generation(),
        "edits": matcher.edits,
        "weights": b"",
        "faqs": 12,
        "examples": 60,
        "confirmed": 3,
        "held_out": 50,
        "learned_first": 0.91,
        "nearest_first": 0.82,
        "learned_rank": 0.93,
        "nearest_rank": 0.88,
        "reason": MatcherFit.Reason.BETTER,
        "seconds": 1.0,
    }
    return MatcherFit.objects.create(matcher=matcher, **given | values)


@pytest.fixture
def matcher() -> Matcher:
    made = Matcher.objects.create(collection=CollectionFactory(name="Law school"))
    made.fit = fit(made)
    made.save()
    return made


def client(*permissions: str) -> Client:
    made = Client()
    made.force_login(UserFactory(permissions=list(permissions)))
    return made


@pytest.fixture
def staff() -> Client:
    return client("faqs.view_matcher", "faqs.change_matcher")


def test_it_says_in_words_how_good_each_way_is_and_which_is_used(staff: Client, matcher: Matcher) -> None:
    listed = staff.get(reverse(LIST)).content.decode()
    assert "learned 91 %, nearest phrasing 82 %" in " ".join(listed.split())
    page = staff.get(reverse("admin:faqs_matcher_change", args=[matcher.pk])).content.decode()
    for said in ("learned from all their phrasings", "91 of 100", "82 of 100", "Law school", "in use"):
        assert said in page


def test_it_says_so_in_german(staff: Client, matcher: Matcher) -> None:
    address = reverse("admin:faqs_matcher_change", args=[matcher.pk])
    page = staff.get(address, headers={"Accept-Language": "de"}).content.decode()
    assert "Wie sollen FAQs zugeordnet werden?" in page
    assert "der bessere Weg, automatisch gewählt" in page


def test_it_says_what_is_chosen_automatically_from_what_and_what_happens_meanwhile(
    staff: Client, matcher: Matcher
) -> None:
    page = staff.get(reverse("admin:faqs_matcher_change", args=[matcher.pk])).content.decode()
    assert "the better way, chosen automatically" in page
    assert 'aria-describedby="matching-auto"' in page
    for said in ("which of the two ways below finds the right FAQ more often", "until this is known"):
        assert said in page


def test_an_edit_that_is_not_learned_yet_is_named(staff: Client, matcher: Matcher) -> None:
    Matcher.objects.update(edits=5)
    page = staff.get(reverse("admin:faqs_matcher_change", args=[matcher.pk])).content.decode()
    assert "matched by their nearest phrasing" in page
    assert "Something was changed just now" in page


def test_staff_choose_a_way_and_bring_back_a_fit(staff: Client, matcher: Matcher) -> None:
    later = fit(matcher, state=MatcherFit.State.WAITING, reason=MatcherFit.Reason.WORSE)
    assert "waits for your decision" in staff.get(reverse(LIST)).content.decode()
    staff.post(reverse("admin:faqs_matcher_use", args=[matcher.pk, later.pk]))
    matcher.refresh_from_db()
    assert (matcher.fit, matcher.is_pinned) == (later, False)
    staff.post(reverse("admin:faqs_matcher_choose", args=[matcher.pk]), {"choice": "nearest"})
    matcher.refresh_from_db()
    assert (matcher.choice, matcher.fit) == ("nearest", None)
    said = staff.post(reverse("admin:faqs_matcher_choose", args=[matcher.pk]), {"choice": "x"}, follow=True)
    assert "Choose one of the ways" in said.content.decode()


def test_who_may_only_look_changes_nothing(matcher: Matcher) -> None:
    reader = client("faqs.view_matcher")
    page = reader.get(reverse("admin:faqs_matcher_change", args=[matcher.pk])).content.decode()
    assert "How should FAQs be matched?" not in page
    address = reverse("admin:faqs_matcher_choose", args=[matcher.pk])
    assert reader.post(address, {"choice": "nearest"}).status_code == 403


def test_the_list_takes_as_many_queries_for_many(
    staff: Client, matcher: Matcher, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for _number in range(8):
        fit(Matcher.objects.create(collection=CollectionFactory()))
    with django_assert_max_num_queries(14):
        staff.get(reverse(LIST))
