"""Topics by the staff API: their figures beside those of something else, and what staff make of them."""

from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.core.cache import cache
from pytest_django import DjangoAssertNumQueries

from analytics.models import Topic
from analytics.topics.counting import count_topics
from chat.models import Message
from tests.analytics.gaps.rows import PARKING
from tests.analytics.topics.test_run import ask, night
from tests.factories import AssistantFactory, UserFactory
from tests.staff.api import Program, make_topic

pytestmark = pytest.mark.django_db
READS, SMALL, CHANGES = "analytics.view_topic", "analytics.see_small_groups", "analytics.change_topic"


@pytest.fixture(autouse=True)
def _nobody_asked_before() -> None:
    cache.clear()


@pytest.fixture
def topic() -> Topic:
    ask(*PARKING)
    night()
    return Topic.objects.get()


def program(*permissions: str, **user: Any) -> Program:
    return Program(UserFactory(permissions=[READS, *permissions], **user))


def listed(address: str = "", *permissions: str) -> list[dict[str, Any]]:
    reply = program(*permissions).get(f"/topics/{address}")
    assert reply.status_code == 200, reply.content
    rows: list[dict[str, Any]] = reply.json()["topics"]
    return rows


def test_a_topic_is_told_with_its_figures_and_those_of_the_period_before(topic: Topic) -> None:
    (row,) = listed("", SMALL)
    assert (row["topic"]["id"], row["topic"]["name"], row["topic"]["is_pinned"]) == (topic.pk, topic.name, False)
    assert (row["answers"], row["answers_before"], row["answered_share"], row["liked_share"]) == (3, 0, 1.0, None)
    assert row["beside"] is None


@pytest.mark.usefixtures("topic")
def test_a_topic_is_told_beside_what_it_is_compared_with() -> None:
    Message.objects.update(language="en")
    Message.objects.filter(pk=Message.objects.filter(topic_question__isnull=False).latest("pk").pk).update(
        language="de"
    )
    count_topics()
    (row,) = listed("?language=en&compare=language:de", SMALL)
    assert (row["answers"], row["answers_before"]) == (2, 1)
    assert row["beside"] == {"answers": 1, "answered_share": 1.0, "liked_share": None, "handed_over": 0}


@pytest.mark.usefixtures("topic")
def test_a_topic_of_few_people_is_not_told_to_who_may_not_see_small_groups() -> None:
    assert listed() == []


def test_another_teams_topic_is_not_told(topic: Topic) -> None:
    assert program(SMALL, teams=[]).get("/topics/").json()["topics"] == []
    assert program(CHANGES, teams=[]).patch(f"/topics/{topic.pk}/", {"is_pinned": True}).status_code == 404


@pytest.mark.parametrize(
    "address", ["?step=day", "?colour=red", "?language=", "?compare=dates", "?compare=assistant:1"]
)
def test_a_filter_that_topics_do_not_have_is_refused(address: str) -> None:
    assert program(SMALL).get(f"/topics/{address}").status_code == 400


def test_staff_rename_pin_and_join_and_the_audit_log_has_it(topic: Topic) -> None:
    other, curator = make_topic(topic.assistant, "Cars"), program(CHANGES)
    changed = curator.patch(f"/topics/{topic.pk}/", {"name": "Parking permits", "is_pinned": True})
    assert (changed.json()["name"], changed.json()["is_pinned"]) == ("Parking permits", True)
    assert curator.patch(f"/topics/{topic.pk}/", {"name": " "}).status_code == 400
    assert curator.patch(f"/topics/{topic.pk}/", {"name": "Parking permits"}).status_code == 200
    joined = curator.post(f"/topics/{topic.pk}/join/", {"into": other.pk})
    assert (joined.status_code, joined.json()["id"]) == (200, other.pk)
    assert curator.patch(f"/topics/{topic.pk}/", {"is_pinned": False}).status_code == 404
    assert LogEntry.objects.count() == 2


def test_a_topic_is_joined_to_no_other_assistants_topic_and_not_to_itself(topic: Topic) -> None:
    foreign = make_topic(AssistantFactory())
    for into in (foreign.pk, topic.pk, 10**12):
        assert program(CHANGES).post(f"/topics/{topic.pk}/join/", {"into": into}).status_code == 400
    topic.refresh_from_db()
    assert topic.merged_into_id is None


def test_the_list_costs_as_many_queries_however_many_topics(
    topic: Topic, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    reader = program(SMALL)
    reader.get("/topics/")
    with django_assert_max_num_queries(12):
        reader.get("/topics/?compare=language:de&language=en")
