"""A real small language model behind a real endpoint: LLM_TEST_BASE_URL, and LLM_TEST_MODEL where it matters."""

import os

import pytest
from django.db import connections
from pytest_django import Settings

from analytics.model_trials.report import make_report
from analytics.model_trials.run import run
from analytics.model_trials.services import prepare_trial
from analytics.models import ModelTrial
from chat.models import ModelLayout
from chat.pipeline.question import Question
from chat.pipeline.run import collect
from faqs.models import FAQ
from knowledge.indexing.documents import sync_document
from tests.analytics.model_trials.rows import price_pages
from tests.factories import DocumentFactory

pytestmark = [
    pytest.mark.llm,
    pytest.mark.timeout(900),
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(not os.environ.get("LLM_TEST_BASE_URL"), reason="LLM_TEST_BASE_URL names no language model"),
]
FEES = "## Fees\n\nThe semester contribution is 318.40 euros. It is due on 15 February."


@pytest.fixture(autouse=True)
def model(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    # A connection that a thread of the loop kept would outlive the test database.
    monkeypatch.setitem(connections["default"].settings_dict, "CONN_MAX_AGE", 0)
    settings.LLM_BASE_URL = os.environ.get("LLM_TEST_BASE_URL", "")
    settings.LLM_MODEL = os.environ.get("LLM_TEST_MODEL", "test")
    settings.LLM_FIRST_TOKEN_SECONDS, settings.LLM_TOTAL_SECONDS = 240, 480
    document = DocumentFactory(title="Fees", text=FEES)
    sync_document(document.pk)
    assert not FAQ.objects.exists()


async def test_it_answers_from_the_pages_and_names_them() -> None:
    reply = await collect(Question(text="How much is the semester contribution?"))
    assert reply.end
    assert reply.end.strategy == "generated"
    assert "318.40" in reply.text
    assert [source.title for source, _document in reply.sources] == ["Fees"]


async def test_it_abstains_where_the_pages_say_nothing() -> None:
    reply = await collect(Question(text="Can the semester contribution be paid in bitcoin at the library desk?"))
    assert reply.reason or "bitcoin" not in reply.text.lower()
    assert not reply.reason or reply.sources == []


@pytest.mark.timeout(3600)
def test_a_trial_comes_to_its_end_and_keeps_a_layout() -> None:
    trial = prepare_trial(assistant=price_pages(6), wanted=6)
    run(trial)
    report = make_report(trial)
    assert trial.state == ModelTrial.State.FINISHED
    assert ModelLayout.objects.get().model == trial.model
    assert report.verdict
    print(*(f"{line.label}: {line.tally}" for line in report.lines), *report.verdict, sep="\n")
