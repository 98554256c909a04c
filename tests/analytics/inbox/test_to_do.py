"""The inbox: topics and answers in one list, narrowed, assigned and finished; of two teams, each its own."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from analytics.models import Gap, Notice, Review
from tests.analytics.gaps.rows import new_gap
from tests.analytics.reviews.rows import new_review
from tests.factories import AssistantFactory, ConversationFactory, UserFactory

pytestmark = pytest.mark.django_db
LIST = reverse("to-do")
MAY = ("analytics.view_review", "analytics.change_review", "analytics.view_gap", "analytics.change_gap")


def sign_in(user: Any) -> Client:
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def anna() -> Any:
    return UserFactory(username="anna", permissions=MAY)


@pytest.fixture
def ben() -> Any:
    return UserFactory(username="ben", permissions=MAY)


def titles(client: Client, **filters: object) -> list[str]:
    return [row.title for row in client.get(LIST, filters).context["rows"]]


def act(client: Client, step: str, *names: str, **given: object) -> str:
    response = client.post(LIST, {"step": step, "item": names, **given}, follow=True)
    return response.content.decode()


def name_of(item: Gap | Review) -> str:
    return f"{'topic' if isinstance(item, Gap) else 'answer'}-{item.pk}"


def test_topics_come_first_and_an_answer_of_a_topic_stands_under_it_alone(anna: Any) -> None:
    new_gap("Dogs", weight=2.0)
    parking = new_gap("Parking", weight=5.0)
    new_review("Is there a sauna?")
    Review.objects.filter(pk=new_review("Where may I park?").pk).update(gap=parking)
    assert titles(sign_in(anna)) == ["Parking", "Dogs", "Is there a sauna?"]


def test_the_list_is_narrowed_by_state_kind_words_and_reason(anna: Any) -> None:
    client = sign_in(anna)
    new_gap("Parking")
    new_gap("Sauna", state=Gap.State.ANSWERED)
    new_gap("Dogs", state=Gap.State.DISMISSED)
    new_review("Is there a sauna?")
    assert titles(client) == ["Parking", "Is there a sauna?"]
    assert titles(client, state="answered") == ["Sauna"]
    assert titles(client, state="done") == ["Dogs"]
    assert titles(client, kind="answers") == ["Is there a sauna?"]
    assert titles(client, q="PARK") == ["Parking"]
    assert titles(client, q="sauna") == ["Is there a sauna?"]
    assert titles(client, reason="abstained") == ["Is there a sauna?"]
    assert titles(client, reason="failed") == []
    strange = {"state": "x", "kind": "x", "who": "x", "assistant": "x" * 30, "reason": "x", "due": "x", "p": "x"}
    assert titles(client, **strange) == titles(client)


def test_what_is_assigned_is_found_by_whom_and_until_when(anna: Any, ben: Any) -> None:
    client, gap, review = sign_in(anna), new_gap("Parking"), new_review("Is there a sauna?")
    yesterday = timezone.localdate() - timedelta(days=1)
    page = act(client, "assign", name_of(gap), name_of(review), to=ben.pk, due_on=timezone.localdate())
    assert "2 were changed." in page
    for item in (gap, review):
        type(item).objects.filter(pk=item.pk).update(due_on=yesterday)
    assert "2 are overdue" in client.get(reverse("to-do")).content.decode()
    assert titles(client, due="overdue") == ["Parking", "Is there a sauna?"]
    assert titles(client, who=ben.pk) == ["Parking", "Is there a sauna?"]
    assert titles(sign_in(ben), who="me") == ["Parking", "Is there a sauna?"]
    assert titles(client, who="me") == titles(client, who="nobody") == []
    assert Notice.objects.filter(user=ben, by=anna).count() == 2
    assert LogEntry.objects.filter(user=anna).count() == 2


def test_a_due_date_alone_leaves_who_looks_after_it(anna: Any, ben: Any) -> None:
    client, gap = sign_in(anna), new_gap("Parking", assigned_to=ben)
    act(client, "assign", name_of(gap), to="keep", due_on="2099-03-31", keeps_day="1")
    act(client, "assign", name_of(gap), to=anna.pk, due_on="", keeps_day="1")
    gap.refresh_from_db()
    assert (gap.assigned_to, str(gap.due_on)) == (anna, "2099-03-31")
    assert "Choose a colleague or a due date" in act(client, "assign", name_of(gap), to="keep", due_on="")


def test_several_are_finished_and_opened_again(anna: Any) -> None:
    client, gap, review = sign_in(anna), new_gap("Parking"), new_review("Is there a sauna?")
    below = new_review("Where may I park?")
    Review.objects.filter(pk=below.pk).update(gap=gap)
    act(client, "finish", name_of(gap), name_of(review))
    assert titles(client) == []
    assert set(titles(client, state="done")) == {"Parking", "Is there a sauna?", "Where may I park?"}
    below.refresh_from_db()
    assert (below.state, below.done_by, [each.note for each in below.comments.all()]) == (
        "done",
        anna,
        ["topic_closed"],
    )
    act(client, "reopen", name_of(gap), name_of(review))
    assert titles(client) == ["Parking", "Is there a sauna?"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"to": "", "due_on": "31 March"}, "Write the due date as in 2027-03-31"),
        ({"to": "", "due_on": "2027-02-31"}, "Write the due date as in 2027-03-31"),
        ({"to": "999999"}, "Choose a colleague of the list"),
        ({"to": "x"}, "Choose a colleague of the list"),
    ],
)
def test_what_cannot_be_assigned_is_said_and_nothing_changes(anna: Any, given: Any, said: str) -> None:
    gap = new_gap("Parking")
    assert said in act(sign_in(anna), "assign", name_of(gap), **given)
    gap.refresh_from_db()
    assert (gap.assigned_to, gap.due_on, gap.version) == (None, None, 0)


def test_nothing_ticked_or_an_unknown_row_changes_nothing(anna: Any) -> None:
    client = sign_in(anna)
    for names in ((), ("topic-0",), ("topic-x",), ("answer-99999999999999999999",), ("user-1",)):
        assert "Tick the rows first" in act(client, "finish", *names)


def test_a_team_sees_and_changes_only_its_own() -> None:
    law, arts = AssistantFactory(name="Law"), AssistantFactory(name="Arts")
    team = Group.objects.create(name="Law team")
    law.teams.add(team)
    member = UserFactory(permissions=MAY, teams=[team])
    own, foreign = new_gap("Own", assistant=law), new_gap("Foreign", assistant=arts)
    new_review("Mine?", conversation=ConversationFactory(assistant=law))
    new_review("Not mine?", conversation=ConversationFactory(assistant=arts))
    client = sign_in(member)
    assert titles(client) == ["Own", "Mine?"]
    assert "Tick the rows first" in act(client, "finish", name_of(foreign))
    chief = sign_in(UserFactory(is_superuser=True))
    said = act(chief, "assign", name_of(own), name_of(foreign), to=member.pk)
    assert "another team looks after it" in said
    own.refresh_from_db()
    assert own.assigned_to is None


def test_who_may_only_look_finds_no_buttons_and_others_are_refused() -> None:
    reader = sign_in(UserFactory(permissions=("analytics.view_gap",)))
    gap = new_gap("Parking")
    new_review("Is there a sauna?")
    page = reader.get(LIST)
    assert [row.title for row in page.context["rows"]] == ["Parking"]
    assert 'name="step"' not in page.content.decode()
    assert reader.post(LIST, {"step": "finish", "item": name_of(gap)}).status_code == 403
    assert sign_in(UserFactory(permissions=("faqs.view_faq",))).get(LIST).status_code == 403


def test_pages_continue_from_topics_to_answers(anna: Any) -> None:
    for number in range(49):
        new_gap(f"Topic {number}", weight=float(number + 1))
    for number in range(3):
        new_review(f"Question {number}?")
    client = sign_in(anna)
    assert titles(client)[-2:] == ["Topic 0", "Question 2?"]
    assert titles(client, p=2) == ["Question 1?", "Question 0?"]


def test_many_rows_take_as_many_queries_as_few(ben: Any) -> None:
    client, counts = sign_in(UserFactory(is_superuser=True)), []
    for _ in range(2):
        for number in range(4):
            new_gap(f"Topic {number}", assigned_to=ben)
            new_review(f"Question {number}?")
        client.get(LIST)
        with CaptureQueriesContext(connection) as queries:
            client.get(LIST)
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 10


def test_who_looks_after_no_assistant_reads_why_the_list_is_empty() -> None:
    page = sign_in(UserFactory(username="cleo", permissions=MAY, teams=[Group.objects.create(name="Law")])).get(LIST)
    assert "Your teams look after no assistant, so you see no questions of students." in page.content.decode()


def test_the_empty_list_says_what_comes_here(anna: Any) -> None:
    AssistantFactory()
    client = sign_in(anna)
    assert "Nothing is left to do." in client.get(LIST).content.decode()
    assert "moves topics here by itself" in client.get(LIST, {"state": "answered"}).content.decode()
    assert "Nothing here matches" in client.get(LIST, {"q": "x"}).content.decode()


def test_of_what_is_done_the_first_of_each_kind_are_listed(anna: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("analytics.to_do.listing.FOUND", 2)
    for number in range(3):
        new_gap(name=f"Parking {number}", weight=number, state=Gap.State.DISMISSED)
    client = sign_in(anna)
    assert len(titles(client, state="done")) == 2
    assert "Add a word to find the others." in client.get(LIST, {"state": "done"}).content.decode()


def test_a_search_lists_the_first_of_each_kind_and_says_that_there_are_more(
    anna: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("analytics.to_do.listing.FOUND", 2)
    monkeypatch.setattr("analytics.to_do.page.FOUND", 2)
    for number in range(3):
        new_gap(name=f"Parking {number}", weight=number)
    new_review("Where is parking allowed?")
    client = sign_in(anna)
    assert titles(client, q="parking") == ["Parking 2", "Parking 1", "Where is parking allowed?"]
    assert "Only the first 2 of each kind are listed." in client.get(LIST, {"q": "parking"}).content.decode()
    assert "Only the first" not in client.get(LIST, {"q": "parking", "kind": "answers"}).content.decode()
    assert len(titles(client)) == 4
