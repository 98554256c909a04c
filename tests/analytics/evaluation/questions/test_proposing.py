"""Staff have the language model propose questions for a set of their own."""

from unittest.mock import Mock

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client
from django.urls import reverse
from kombu.exceptions import OperationalError

from analytics.models import EvaluationSet, ModelRequest
from analytics.tasks import propose_questions
from tests.factories import CollectionFactory, UserFactory
from tests.fakes.llm import FakeLLM

pytestmark = pytest.mark.django_db
MAY = ["analytics.view_evaluationset", "analytics.view_evaluationquestion", "analytics.add_evaluationquestion"]


@pytest.fixture
def queued(monkeypatch: pytest.MonkeyPatch) -> Mock:
    delay = Mock()
    monkeypatch.setattr(propose_questions, "delay", delay)
    return delay


@pytest.fixture
def own() -> EvaluationSet:
    found = EvaluationSet.objects.create(name="Ours")
    found.collections.add(CollectionFactory())
    return found


def logged_in(permissions: list[str]) -> Client:
    client = Client()
    client.force_login(UserFactory(permissions=permissions))
    return client


def propose(client: Client, own: EvaluationSet, passages: str = "20") -> str:
    address = reverse("admin:analytics_evaluationset_propose", args=[own.pk])
    reply = client.post(address, {"passages": passages}, follow=True)
    return str(reply.content.decode())


def test_so_many_more_passages_are_asked_about_than_were(own: EvaluationSet, queued: Mock, llm: FakeLLM) -> None:
    for key in ("a", "b"):
        ModelRequest.objects.create(evaluation_set=own, purpose=ModelRequest.Purpose.QUESTIONS, key=key)
    page = propose(logged_in(MAY), own)
    queued.assert_called_once_with(own.pk, 22, 1)
    assert "Questions are being proposed." in page
    assert LogEntry.objects.get().change_message == "questions asked for"


@pytest.mark.parametrize("passages", ["", "0", "501", "many"])
def test_a_number_that_is_none_is_refused(own: EvaluationSet, queued: Mock, llm: FakeLLM, passages: str) -> None:
    assert "messagelist" in propose(logged_in(MAY), own, passages)
    assert not queued.called
    assert not LogEntry.objects.exists()


def test_without_a_language_model_nobody_is_offered_it(own: EvaluationSet, queued: Mock) -> None:
    client = logged_in(MAY)
    page = client.get(reverse("admin:analytics_evaluationset_change", args=[own.pk])).content.decode()
    assert "Propose questions" not in page
    assert "No language model is configured" in propose(client, own)
    assert not queued.called


def test_a_set_without_collections_is_told_to_choose_some(own: EvaluationSet, queued: Mock, llm: FakeLLM) -> None:
    own.collections.clear()
    assert "Choose the collections" in propose(logged_in(MAY), own)
    assert not queued.called


def test_a_broker_that_is_away_is_told_of(own: EvaluationSet, queued: Mock, llm: FakeLLM) -> None:
    queued.side_effect = OperationalError
    assert "Please try again in a minute." in propose(logged_in(MAY), own)
    assert not LogEntry.objects.exists()


def test_a_loaded_data_set_stays_as_it_is(own: EvaluationSet, queued: Mock, llm: FakeLLM) -> None:
    EvaluationSet.objects.update(fingerprint="of files")
    client = logged_in(MAY)
    assert client.post(reverse("admin:analytics_evaluationset_propose", args=[own.pk])).status_code == 404
    assert not queued.called
