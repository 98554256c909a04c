"""The page of one topic: two of the staff at once, assignment, comments, and the answers that follow their topic."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from analytics.inbox.services import set_topic_state
from analytics.models import Gap, Review
from tests.analytics.gaps.rows import look, new_gap
from tests.analytics.inbox.test_to_do import MAY, sign_in
from tests.analytics.reviews.rows import answered, get_review, new_review
from tests.analytics.reviews.rows import look as collect_reviews
from tests.analytics.rows import url_of
from tests.factories import UserFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def anna() -> Any:
    return UserFactory(username="anna", first_name="Anna", last_name="Arndt", permissions=MAY)


@pytest.fixture
def ben() -> Any:
    return UserFactory(username="ben", permissions=MAY)


def post(client: Client, gap: Gap, deed: str, **given: object) -> str:
    return client.post(url_of(gap, deed), given, follow=True).content.decode()


def assign(client: Client, item: Gap | Review, **given: object) -> str:
    return client.post(url_of(item, "assign"), given, follow=True).content.decode()


def test_each_of_two_sees_that_the_other_has_the_topic_open(anna: Any, ben: Any) -> None:
    gap = new_gap()
    sign_in(anna).get(url_of(gap))
    assert "Anna Arndt" in sign_in(ben).get(url_of(gap)).content.decode()
    state = sign_in(ben).post(url_of(gap, "reading")).json()
    assert state == {"version": 0, "readers": ["Anna Arndt"]}


def test_who_saves_over_an_unseen_change_is_told_and_keeps_what_was_typed(anna: Any, ben: Any) -> None:
    gap = new_gap("Parking")
    post(sign_in(anna), gap, "rename", version=0, name="Parking permits")
    late = sign_in(ben)
    renamed = post(late, gap, "rename", version=0, name="Cars")
    for part in ("Anna Arndt changed it meanwhile", "Its name is now “Parking permits”", 'value="Cars"'):
        assert part in renamed
    assert "Its state was not changed" in post(late, gap, "state", version=0, state="dismissed")
    assigned = assign(late, gap, version=0, to=ben.pk, due_on="2099-03-31")
    for part in ("Anna Arndt changed it meanwhile", "Nothing was assigned", 'value="2099-03-31"', "selected"):
        assert part in assigned
    gap.refresh_from_db()
    assert (gap.name, gap.state, gap.assigned_to, gap.version) == ("Parking permits", "open", None, 1)


def test_who_assigns_an_answer_late_reads_who_changed_it_and_keeps_what_was_chosen(anna: Any, ben: Any) -> None:
    review = new_review("Is there a sauna?")
    sign_in(anna).post(url_of(review), {"step": "save", "verdict": "abuse", "version": 0})
    page = assign(sign_in(ben), review, version=0, to=ben.pk, due_on="2099-03-31")
    for part in ("Anna Arndt changed it meanwhile", 'value="2099-03-31"', f'action="{url_of(review)}"'):
        assert part in page
    review.refresh_from_db()
    assert review.assigned_to == anna


def test_a_due_date_that_has_passed_is_refused_unless_it_was_set_before(anna: Any, ben: Any) -> None:
    client, yesterday = sign_in(anna), timezone.localdate() - timedelta(days=1)
    for item in (new_gap(), new_review("Is there a sauna?")):
        page = assign(client, item, version=0, to=ben.pk, due_on=yesterday)
        assert "This due date has passed: choose today or a later day." in page
        assert f'value="{yesterday}"' in page
        type(item).objects.filter(pk=item.pk).update(due_on=yesterday)
        assert "Saved: who looks after it" in assign(client, item, version=0, to=ben.pk, due_on=yesterday)
        listed = {"step": "assign", "item": [f"{'topic' if isinstance(item, Gap) else 'answer'}-{item.pk}"]}
        earlier = yesterday - timedelta(days=1)
        said = client.post(reverse("to-do"), {**listed, "to": "keep", "due_on": earlier}, follow=True)
        assert "This due date has passed" in said.content.decode()
        item.refresh_from_db()
        assert (item.assigned_to, item.due_on) == (ben, yesterday)


def test_a_topic_and_an_answer_are_assigned_on_their_pages(anna: Any, ben: Any) -> None:
    client = sign_in(anna)
    for item in (new_gap(), new_review("Is there a sauna?")):
        page = assign(client, item, version=0, to=ben.pk, due_on="2099-03-31")
        assert "Saved: who looks after it" in page
        item.refresh_from_db()
        assert (item.assigned_to, str(item.due_on)) == (ben, "2099-03-31")
    assert client.post(reverse("admin:analytics_gap_assign", args=[999])).status_code == 404


def test_comments_stand_below_the_topic_and_a_bad_one_is_kept_in_its_field(anna: Any) -> None:
    client, gap = sign_in(anna), new_gap()
    assert "Ask the <b>dean</b>" not in post(client, gap, "comment", comment="Ask the <b>dean</b>")
    assert [each.text for each in gap.comments.all()] == ["Ask the <b>dean</b>"]
    long = "x" * 2001
    page = post(client, gap, "comment", comment=long)
    assert "shorten the comment" in page
    assert long in page
    assert "Write a comment first" in post(client, gap, "comment", comment=" ")


def test_an_answered_topic_takes_its_answers_along_and_brings_them_back() -> None:
    gap, review = new_gap(), new_review("Where may I park?")
    Review.objects.filter(pk=review.pk).update(gap=gap)
    for state, followed in (("answered", "answered"), ("open", "open"), ("dismissed", "done"), ("open", "done")):
        set_topic_state(gaps=[gap], state=state)
        review.refresh_from_db()
        assert review.state == followed, state


def test_the_nightly_run_puts_answers_under_their_topics_and_a_new_question_opens_it_again() -> None:
    first = answered("How do I get a parking permit?")
    collect_reviews()
    look()
    review = get_review(first)
    assert review.gap
    set_topic_state(gaps=[review.gap], state=Gap.State.ANSWERED)
    second = answered("How do I get a parking permit?", conversation=first.conversation)
    collect_reviews()
    look()
    review.refresh_from_db()
    assert (review.gap.state, review.state) == ("open", "open")
    assert get_review(second).gap == review.gap


def test_the_answer_was_right_is_a_verdict(anna: Any) -> None:
    review = new_review("Is there a sauna?")
    given = {"step": "done", "verdict": "correct_answer", "version": 0}
    sign_in(anna).post(url_of(review), given)
    review.refresh_from_db()
    assert (review.state, review.get_verdict_display()) == ("done", "The answer was right")


def read_form(page: str) -> dict[str, str]:
    """Return the fields of the form of assigning, as a browser would send them untouched."""
    form = re.search(r'<form class="module panel to-do-assign".*?</form>', page, re.DOTALL)
    assert form
    fields = {name: value for tag in re.findall(r"<input[^>]+>", form[0]) for name, value in [_attributes(tag)]}
    chosen = re.search(r'<option value="(\d*)"\s+selected', form[0])
    return {**fields, "to": chosen[1] if chosen else ""}


def _attributes(tag: str) -> tuple[str, str]:
    found = dict(re.findall(r'(name|value)="([^"]*)"', tag))
    return found["name"], found.get("value", "")


def test_who_is_refused_keeps_what_was_typed_and_sees_what_a_colleague_chose(anna: Any, ben: Any) -> None:
    late = sign_in(ben)
    for item in (new_gap(), new_review("Is there a sauna?")):
        opened = read_form(late.get(url_of(item)).content.decode())
        assign(sign_in(anna), item, version=0, to=anna.pk, due_on="2099-01-01")
        refused = assign(late, item, **{**opened, "due_on": "2099-03-31"})
        assert "Nothing was assigned" in refused
        again = read_form(refused)
        assert (again["to"], again["due_on"]) == (str(anna.pk), "2099-03-31")
        assert "Saved: who looks after it" in assign(late, item, **again)
        item.refresh_from_db()
        assert (item.assigned_to, str(item.due_on)) == (anna, "2099-03-31")
