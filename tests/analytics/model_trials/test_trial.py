"""A trial of a language model: the layouts it tries, what it keeps, and what it says."""

from collections.abc import Callable
from unittest.mock import Mock

import pytest
from asgiref.sync import async_to_sync
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command
from django.db import connections
from pytest_django import Settings

from analytics.model_trials.outcomes import QUOTES
from analytics.model_trials.report import describe_progress, make_report
from analytics.model_trials.run import work_on
from analytics.model_trials.services import cancel_trial, prepare_trial, start_trial
from analytics.models import ModelTrial
from analytics.tasks import run_model_trial
from chat.models import ModelLayout, PromptVersion
from chat.pipeline.question import build_question
from chat.pipeline.run import collect
from chat.prompt_template import BUILT_IN
from chat.services.prompts import switch_model
from faqs.models import FAQ
from tests.analytics.model_trials.rows import PRICES, copy_first_source, price_pages, refuse_if_permitted, run_trial
from tests.fakes.llm import FakeLLM

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("llm")]
State = ModelTrial.State


@pytest.fixture(autouse=True)
def _brief_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have connections end with their work: one that a thread kept would outlive the test database."""
    monkeypatch.setitem(connections["default"].settings_dict, "CONN_MAX_AGE", 0)


@pytest.fixture(autouse=True)
def _refusals_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have every refusal of the model count, however good the evidence is."""
    monkeypatch.setattr("chat.pipeline.answering.generate.GOOD_EVIDENCE_MARGIN", 1.0)


@pytest.fixture(autouse=True)
def queued(monkeypatch: pytest.MonkeyPatch) -> Mock:
    queue = Mock()
    monkeypatch.setattr(run_model_trial, "delay", queue)
    return queue


def prompts(llm: FakeLLM) -> list[str]:
    return [request["messages"][-1]["content"] for request in llm.requests]


def interrupting(write: Callable[[str], str], *, after: int) -> Callable[[str], str]:
    """Write as before, and cancel the trial after so many answers."""
    written: list[str] = []

    def wrapped(prompt: str) -> str:
        written.append(prompt)
        if len(written) == after:
            ModelTrial.objects.active().update(state=State.CANCELLED)
            connections.close_all()
        return write(prompt)

    return wrapped


def test_a_model_that_refuses_whenever_it_may_is_no_longer_permitted_to(llm: FakeLLM) -> None:
    assistant = price_pages()
    llm.writes(refuse_if_permitted)
    trial = run_trial(assistant)
    assert (trial.state, trial.message) == (State.FINISHED, "")
    kept = ModelLayout.objects.get()
    assert (kept.model, kept.may_refuse) == ("fake", False)
    # All eight on three answerable and one withheld question, then two on the rest.
    assert len(llm.requests) == trial.total == 8 * 4 + 2 * 8
    assert sum(outcome["way"] == QUOTES for outcome in trial.outcomes) == 12


def test_students_are_answered_with_the_layout_that_was_kept(llm: FakeLLM) -> None:
    assistant = price_pages(2)
    ModelLayout.objects.create(model="fake", may_refuse=False, is_question_first=True, most_sources=3)
    reply = async_to_sync(collect)(build_question(assistant, "What is the price of the student card?", "en"))
    assert reply.end
    assert reply.end.prompt == "built-in 2, without refusal, question first, 3 sources"
    assert "NO_ANSWER" not in llm.prompt
    assert llm.prompt.index("Question, between") < llm.prompt.index("Sources, each")
    # Another model has not been tried.
    assistant.model = "another"
    assert build_question(assistant, "What is the price of the student card?", "en").template == BUILT_IN


def test_the_report_says_whether_the_model_helps(llm: FakeLLM) -> None:
    assistant = price_pages()
    llm.writes(lambda _prompt: "NO_ANSWER")
    report = make_report(run_trial(assistant))
    assert not report.helps
    assert report.verdict[0].startswith("Quoting alone is ")
    assert [line.is_used for line in report.lines].count(True) == 1
    assert report.lines[0].label == "Quoting alone, without a model"
    assert report.lines[0].tally.right == len(PRICES)


def test_a_prompt_version_of_staff_is_tried_as_it_is_and_stays_in_use(llm: FakeLLM) -> None:
    assistant = price_pages()
    version = PromptVersion.objects.create(
        comment="x", system=BUILT_IN.system + "\nBe kind.", question=BUILT_IN.question
    )
    assistant.prompt = version
    assistant.save()
    llm.writes(refuse_if_permitted)
    trial = run_trial(assistant)
    report = make_report(trial)
    own = next(line for line in report.lines if line.is_used)
    assert own.label == f"Your instructions {version.name}"
    assert own.tally.asked == 12
    assert sum("Be kind." in request["messages"][0]["content"] for request in llm.requests) == 12
    assert assistant.template.name == version.name


def test_a_trial_that_was_stopped_goes_on_where_it_was(llm: FakeLLM) -> None:
    assistant = price_pages()
    llm.writes(interrupting(copy_first_source, after=20))
    stopped = run_trial(assistant)
    assert stopped.state == State.CANCELLED
    assert not ModelLayout.objects.exists()
    kept = len(stopped.outcomes)
    assert kept >= 12 + 19
    llm.requests.clear()
    llm.writes(copy_first_source)
    trial = run_trial(assistant)
    assert trial.pk == stopped.pk
    assert trial.state == State.FINISHED
    assert len(llm.requests) == trial.total - (kept - 12)
    assert ModelLayout.objects.exists()


@pytest.mark.parametrize(
    ("status", "said"), [(401, "LLM_API_KEY"), (404, "does not know this model"), (500, "endpoint fails")]
)
def test_an_endpoint_that_refuses_ends_the_trial_with_a_sentence(llm: FakeLLM, status: int, said: str) -> None:
    assistant = price_pages()
    llm.fails(status)
    trial = run_trial(assistant)
    assert trial.state == State.FAILED
    assert said in describe_progress(trial)
    assert not ModelLayout.objects.exists()
    assert all(outcome["way"] == QUOTES for outcome in trial.outcomes)


def test_an_endpoint_that_is_away_ends_the_trial_with_a_sentence(settings: Settings) -> None:
    assistant = price_pages()
    settings.LLM_BASE_URL = "http://127.0.0.1:9/v1"
    assert "LLM_BASE_URL" in describe_progress(run_trial(assistant))


def test_a_model_that_is_late_three_times_is_too_slow(llm: FakeLLM, settings: Settings) -> None:
    assistant = price_pages()
    settings.LLM_FIRST_TOKEN_SECONDS = 1
    llm.says("Too late.", first_after=30)
    trial = run_trial(assistant)
    assert trial.state == State.FAILED
    assert "too slow" in describe_progress(trial)


def test_an_installation_with_few_questions_is_told_what_to_add(settings: Settings) -> None:
    assistant = price_pages(4)
    with pytest.raises(ValidationError, match="Publish FAQs with linked documents"):
        start_trial(assistant=assistant)
    settings.LLM_BASE_URL = ""
    with pytest.raises(ValidationError, match="no language model"):
        start_trial(assistant=assistant)


def test_two_trials_of_an_assistant_never_run_at_once(queued: Mock) -> None:
    assistant = price_pages()
    first, second = start_trial(assistant=assistant), start_trial(assistant=assistant)
    assert first == second
    assert queued.call_args.args == (first.pk,)
    cancel_trial(trial=first)
    assert prepare_trial(assistant=assistant) == first


def test_a_worker_leaves_a_trial_alone_that_another_one_has(llm: FakeLLM) -> None:
    assistant = price_pages(6)
    trial = prepare_trial(assistant=assistant)
    assert trial.claim()
    work_on(trial.pk)
    assert llm.requests == []


def test_an_assistant_that_is_switched_off_asks_no_model(llm: FakeLLM) -> None:
    assistant = switch_model(assistant=price_pages(2), is_on=False)
    reply = async_to_sync(collect)(build_question(assistant, "What is the price of the student card?", "en"))
    assert reply.end
    assert (reply.end.strategy, reply.end.notice, reply.end.model) == ("extractive", "", "")
    assert llm.requests == []


def test_the_command_prints_the_table_and_the_verdict(llm: FakeLLM, capsys: pytest.CaptureFixture[str]) -> None:
    price_pages()
    llm.writes(refuse_if_permitted)
    call_command("probe_model")
    told = capsys.readouterr().out
    assert "Quoting alone, without a model" in told
    assert "* may not refuse" in told
    assert "questions right" in told


def test_the_command_says_what_is_wrong(llm: FakeLLM) -> None:
    with pytest.raises(CommandError, match="no assistant yet"):
        call_command("probe_model")
    assistant = price_pages()
    with pytest.raises(CommandError, match="no such assistant"):
        call_command("probe_model", "--assistant", "elsewhere")
    llm.fails(401)
    with pytest.raises(CommandError, match="LLM_API_KEY"):
        call_command("probe_model", "--assistant", assistant.slug)
    assert ModelTrial.objects.get().state == State.FAILED
    FAQ.objects.all().delete()
    with pytest.raises(CommandError, match="too few questions"):
        call_command("probe_model")
