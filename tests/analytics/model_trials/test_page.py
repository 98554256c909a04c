"""The page of an assistant's language model: its trial, what it found, and the switch."""

from unittest.mock import Mock

import pytest
from django.contrib.admin.models import LogEntry
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from pytest_django import Settings

from analytics.model_trials.outcomes import LAYOUT_BY_CODE, QUOTES
from analytics.models import ModelTrial
from analytics.tasks import run_model_trial
from chat.models import Assistant, ModelLayout
from tests.factories import AssistantFactory, UserFactory
from tests.fakes.llm import FakeLLM

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def queued(monkeypatch: pytest.MonkeyPatch) -> Mock:
    queue = Mock()
    monkeypatch.setattr(run_model_trial, "delay_on_commit", queue)
    return queue


def page_of(client: Client, assistant: Assistant) -> str:
    page = client.get(reverse("language-model", args=[assistant.pk]))
    assert page.status_code == 200
    return " ".join(page.content.decode().split())


def outcome(way: str, question: str, verdict: str) -> dict[str, object]:
    return {
        "way": way,
        "question": question,
        "verdict": verdict,
        "first_seconds": 1.5,
        "seconds": 2.5,
        "tokens": 900,
        "is_held_back": False,
        "failure": "",
    }


def finished(assistant: Assistant, *, model_is: str, quotes_are: str, state: str = "finished") -> ModelTrial:
    best = next(iter(LAYOUT_BY_CODE))
    outcomes = [outcome(QUOTES, "faq:1", quotes_are), outcome(best, "faq:1", model_is)]
    ModelLayout.objects.create(model="fake", may_refuse=True, is_question_first=False, most_sources=0)
    return ModelTrial.objects.create(
        assistant=assistant, model="fake", wanted=12, state=state, outcomes=outcomes, done=1, total=1
    )


def test_a_server_without_a_model_says_so(admin_client: Client, settings: Settings) -> None:
    settings.LLM_BASE_URL = ""
    assistant = AssistantFactory()
    assert "This server has no language model" in page_of(admin_client, assistant)
    assert (
        reverse("language-model", args=[assistant.pk])
        not in admin_client.get(reverse("admin:chat_assistant_change", args=[assistant.pk])).content.decode()
    )


def test_the_assistants_page_leads_to_its_language_model(admin_client: Client, llm: FakeLLM) -> None:
    assistant = AssistantFactory()
    page = admin_client.get(reverse("admin:chat_assistant_change", args=[assistant.pk])).content.decode()
    assert reverse("language-model", args=[assistant.pk]) in page
    assert "It was not tried yet" in page_of(admin_client, assistant)


def test_the_page_says_whether_the_model_helps(admin_client: Client, llm: FakeLLM) -> None:
    assistant = AssistantFactory()
    finished(assistant, model_is="right", quotes_are="beside")
    page = page_of(admin_client, assistant)
    assert "This model helps: 1 of 1 questions right, quoting alone 0 of 1." in page
    assert "may refuse, sources before the question, all passages" in page
    assert "You can switch the model off" not in page


def test_the_page_offers_the_switch_where_quoting_is_better(admin_client: Client, llm: FakeLLM) -> None:
    assistant = AssistantFactory()
    finished(assistant, model_is="declined", quotes_are="right")
    page = page_of(admin_client, assistant)
    assert "Quoting alone is better: 1 of 1 questions right, with this model 0 of 1." in page
    assert "You can switch the model off" in page


def test_another_model_was_not_tried_yet(admin_client: Client, llm: FakeLLM, settings: Settings) -> None:
    assistant = AssistantFactory()
    finished(assistant, model_is="right", quotes_are="beside")
    settings.LLM_MODEL = "another"
    page = page_of(admin_client, assistant)
    assert "It was not tried yet" in page
    assert "This model helps" not in page


def test_the_switch_takes_the_model_away_and_gives_it_back(admin_client: Client, llm: FakeLLM) -> None:
    assistant = AssistantFactory()
    address = reverse("language-model-switch", args=[assistant.pk])
    admin_client.post(address)
    assistant.refresh_from_db()
    assert not assistant.uses_model
    assert "is switched off for" in page_of(admin_client, assistant)
    admin_client.post(address, {"uses_model": "on"})
    assistant.refresh_from_db()
    assert assistant.uses_model
    assert LogEntry.objects.count() == 2


def test_a_trial_that_runs_says_how_far_it_is_and_can_be_stopped(admin_client: Client, llm: FakeLLM) -> None:
    assistant = AssistantFactory()
    trial = finished(assistant, model_is="right", quotes_are="right", state="running")
    ModelTrial.objects.filter(pk=trial.pk).update(total=41)
    progress = admin_client.get(reverse("language-model-progress", args=[assistant.pk])).json()
    assert progress["is_active"]
    assert progress["message"] == "1 of 41 answers so far. About 2 minutes are left."
    assert "Stop the trial" in page_of(admin_client, assistant)
    admin_client.post(reverse("language-model-stop", args=[assistant.pk]))
    trial.refresh_from_db()
    assert trial.is_cancelled
    assert "Go on with the trial" in page_of(admin_client, assistant)


def test_a_trial_cannot_start_without_known_questions(admin_client: Client, llm: FakeLLM, queued: Mock) -> None:
    assistant = AssistantFactory()
    page = admin_client.post(reverse("language-model-start", args=[assistant.pk]), follow=True).content.decode()
    assert "There are too few questions with a known answer" in page
    assert not queued.called


def test_who_may_not_change_an_assistant_only_reads(client: Client, llm: FakeLLM) -> None:
    assistant = AssistantFactory()
    client.force_login(UserFactory(permissions=["chat.view_assistant"]))
    assert "Start a trial" not in page_of(client, assistant)
    assert client.post(reverse("language-model-start", args=[assistant.pk])).status_code == 403


def test_the_page_takes_as_many_queries_with_many_outcomes_as_with_few(admin_client: Client, llm: FakeLLM) -> None:
    assistant = AssistantFactory()
    trial = finished(assistant, model_is="right", quotes_are="right")
    with CaptureQueriesContext(connection) as few:
        page_of(admin_client, assistant)
    outcomes = [outcome(way, f"faq:{n}", "right") for way in (QUOTES, *LAYOUT_BY_CODE) for n in range(16)]
    ModelTrial.objects.filter(pk=trial.pk).update(outcomes=outcomes)
    with CaptureQueriesContext(connection) as many:
        page_of(admin_client, assistant)
    assert len(many) == len(few)
