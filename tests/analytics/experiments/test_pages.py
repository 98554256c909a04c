"""The screens of experiments: setting up, starting, both arms side by side, ending and adopting."""

import datetime
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from analytics.models import ExperimentCount
from analytics.tasks import look_at_experiments
from chat.models import Experiment
from tests.analytics.experiments.test_running import draft, fill, running, said
from tests.factories import AssistantFactory, UserFactory

pytestmark = pytest.mark.django_db
VIEW, CHANGE = "chat.view_experiment", "chat.change_assistant"
LIST = "/admin/chat/experiment/"


def member(*may: str, **values: Any) -> Client:
    client = Client()
    client.force_login(UserFactory(permissions=list(may), **values))
    return client


def counted(tried: Experiment, now: tuple[int, int], other: tuple[int, int], *, people: int = 50) -> None:
    for arm, (everything, good) in (("now", now), ("other", other)):
        ExperimentCount.objects.create(
            experiment=tried, day=timezone.localdate() - datetime.timedelta(days=5), arm=arm, newcomers=people,
            conversations=everything, helped=good, answered=good, abstained=everything - good,
        )  # fmt: skip


def page(client: Client, tried: Experiment) -> str:
    return client.get(f"{LIST}{tried.pk}/change/").content.decode()


def form(**values: Any) -> dict[str, Any]:
    given = {"name": "More evidence", "evidence_needed": "0.6", "share": 50, "measure": "helped", "rule": "fixed"}
    return {**given, "least_difference": 30, "guard_margin": 5, "model": "", **values}


def test_without_an_experiment_the_list_says_what_they_are_for() -> None:
    assert "Try one setting on some of the conversations" in member(VIEW).get(LIST).content.decode()


def test_an_experiment_is_set_up_started_ended_and_adopted_and_the_audit_log_has_it() -> None:
    assistant, client = AssistantFactory(name="Info desk"), member(CHANGE)
    said(assistant, 40)
    client.post(f"{LIST}add/", form(assistant=assistant.pk))
    tried = Experiment.objects.get()
    assert "Start the experiment" in page(client, tried)
    client.post(f"{LIST}{tried.pk}/start/")
    assert "End it and go back for all" in page(client, tried)
    client.post(f"{LIST}{tried.pk}/stop/")
    assert "Ended by staff before it was decided." in page(client, tried)
    client.post(f"{LIST}{tried.pk}/adopt/")
    assistant.refresh_from_db()
    assert assistant.evidence_needed == 0.6
    entries = LogEntry.objects.order_by("pk").values_list("content_type__model", "object_id")
    own, its = ("experiment", str(tried.pk)), ("assistant", str(assistant.pk))
    assert list(entries) == [own, own, own, own, its]
    assert "Adopt the other settings" not in page(client, tried)


@pytest.mark.parametrize(("field", "value"), [("share", 0), ("share", 100), ("least_difference", 0), ("share", "x")])
def test_values_that_make_no_experiment_are_refused(field: str, value: Any) -> None:
    client = member(CHANGE)
    refused = client.post(f"{LIST}add/", form(assistant=AssistantFactory().pk, **{field: value}))
    assert "errorlist" in refused.content.decode()
    assert not Experiment.objects.exists()


def test_what_was_started_cannot_be_changed_or_deleted() -> None:
    tried, client = running(), member(CHANGE)
    assert client.post(f"{LIST}{tried.pk}/change/", form(assistant=tried.assistant_id, share=10)).status_code == 403
    assert client.post(f"{LIST}{tried.pk}/delete/", {"post": "yes"}).status_code == 403
    tried.refresh_from_db()
    assert tried.share == 50


def test_the_page_says_how_many_conversations_and_days_a_plan_needs() -> None:
    tried, client = draft(), member(CHANGE)
    assert "it would never end" in page(client, tried)
    said(tried.assistant, 20)
    said(tried.assistant, 20, status="abstained")
    assert "That is longer than a year" in page(client, tried)
    told = client.post(f"{LIST}{tried.pk}/start/", follow=True).content.decode()
    assert "It would take longer than a year." in told
    Experiment.objects.update(least_difference=40)
    assert "three of them until the last conversation is settled" in page(client, tried)


def test_a_running_one_shows_counts_and_no_verdict() -> None:
    tried = running(rule="fixed", needed=1000)
    counted(tried, (100, 30), (100, 90))
    shown = page(member(VIEW), tried)
    assert "90.0\N{NO-BREAK SPACE}% (90)" in shown
    assert "Nothing is decided before" in shown
    assert "Difference" not in shown
    assert "better" not in shown
    assert "End it and go back" not in shown


@pytest.mark.parametrize(
    ("other", "sentence"),
    [
        ((100, 90), "The other settings are better, by 60 points"),
        ((100, 5), "The settings as now are better, by 25 points"),
        ((100, 31), "No difference was shown"),
    ],
)
def test_the_result_stands_there_in_words_with_its_interval(other: tuple[int, int], sentence: str) -> None:
    tried = running(rule="fixed", needed=200, guard_margin=50)
    counted(tried, (100, 30), other)
    look_at_experiments()
    shown = page(member(CHANGE), tried)
    assert sentence in shown
    assert "with a certainty of 96\N{NO-BREAK SPACE}% between" in shown
    assert "Adopt the other settings" in shown


def test_it_is_german_for_who_reads_german() -> None:
    tried = running(rule="fixed", needed=200)
    counted(tried, (100, 30), (100, 90))
    look_at_experiments()
    client = member(CHANGE)
    shown = client.get(f"{LIST}{tried.pk}/change/", HTTP_ACCEPT_LANGUAGE="de").content.decode()
    assert "Die anderen Einstellungen sind um 60 Punkte besser" in shown
    assert "Die anderen Einstellungen übernehmen" in shown


def test_figures_of_few_people_are_hidden() -> None:
    tried = running(rule="fixed", needed=200)
    counted(tried, (100, 30), (100, 90), people=4)
    look_at_experiments()
    shown = page(member(VIEW), tried)
    assert "hidden for privacy" in shown
    assert "90.0" not in shown
    assert "60 points" not in shown
    assert "60 points" in page(member(VIEW, "analytics.see_small_groups"), tried)


def test_what_a_guard_rail_ended_is_told_on_the_first_page_and_not_adopted() -> None:
    tried = running()
    said(tried.assistant, 40, tried=tried, arm="now", days_ago=0.1)
    said(tried.assistant, 40, tried=tried, arm="other", days_ago=0.1, status="failed")
    look_at_experiments()
    client = member(CHANGE)
    first = client.get("/admin/").content.decode()
    assert "A guard rail ended 1 experiment" in first
    shown = page(client, tried)
    assert "Guard rail: more answers failed with the other settings." in shown
    assert "Adopt the other settings" not in shown
    listed = client.get(f"{LIST}?ending__in=abstained,failed&adopted_at__isnull=1")
    assert listed.status_code == 200
    assert tried.name in listed.content.decode()


def test_others_experiments_are_not_found_and_analysts_only_read() -> None:
    tried = running()
    stranger = member(VIEW, CHANGE, teams=[Group.objects.create(name="Law")])
    assert tried.name not in stranger.get(LIST).content.decode()
    for step in ("start", "stop", "adopt", "take_back"):
        assert stranger.post(f"{LIST}{tried.pk}/{step}/").status_code == 404
        assert member(VIEW).post(f"{LIST}{tried.pk}/{step}/").status_code == 403
    assert member(VIEW).get(f"{LIST}add/").status_code == 403


def test_a_list_of_many_takes_few_queries(django_assert_max_num_queries: DjangoAssertNumQueries) -> None:
    for _ in range(20):
        running()
    client = member(VIEW, CHANGE)
    with django_assert_max_num_queries(9):
        client.get(LIST)


def test_the_page_takes_few_queries_however_many_conversations_there_are(
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    tried = running(rule="fixed", needed=100)
    fill(tried, (40, 10), (45, 5))
    look_at_experiments()
    client = member(VIEW)
    with django_assert_max_num_queries(16):
        page(client, tried)
