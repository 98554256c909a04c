"""Runs as the queue works on them: claimed once, closed whatever happens, found again when they were lost."""

import json
from collections.abc import Callable
from typing import Any
from unittest.mock import Mock

import pytest
from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils import timezone
from kombu.exceptions import OperationalError

from analytics.evaluation.datasets import load_questions
from analytics.evaluation.runner import Asked
from analytics.evaluation.services import cancel_run, save_question, start_runs
from analytics.models import EvaluationQuestion, EvaluationRun, EvaluationSet, Judgment
from analytics.tasks import run_evaluation
from core.inference.embeddings import EmbeddingUnavailable
from core.jobs import Heartbeat
from knowledge.models import Collection, Document
from marcelcms.tasks import requeue_lost_jobs
from tests.conftest import QUESTION
from tests.factories import CollectionFactory, DocumentFactory

pytestmark = pytest.mark.django_db
State = EvaluationRun.State


@pytest.fixture
def queued(monkeypatch: pytest.MonkeyPatch) -> Mock:
    delay = Mock()
    monkeypatch.setattr(run_evaluation, "delay", delay)
    return delay


@pytest.fixture
def own_set() -> EvaluationSet:
    """Make a set of staff's own with one question on a document that is not indexed."""
    document = DocumentFactory()
    made = EvaluationSet.objects.create(name="Ours")
    made.collections.set([document.collection])
    question = EvaluationQuestion(evaluation_set=made, text=QUESTION, answerable=True)
    save_question(question=question, judgments=[Judgment(document=document)])
    return made


def new_run(evaluation_set: EvaluationSet, **values: Any) -> EvaluationRun:
    return EvaluationRun.objects.create(evaluation_set=evaluation_set, **{"profile": "bm25"} | values)


def breaks_with(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    monkeypatch.setattr("analytics.evaluation.runner.ask", Mock(side_effect=error))


def test_a_run_is_queued_after_commit_and_worked_on_once(
    own_set: EvaluationSet, queued: Mock, django_capture_on_commit_callbacks: Callable[..., Any]
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        (run,) = start_runs(evaluation_set=own_set, profiles=["bm25"])
        queued.assert_not_called()
    queued.assert_called_once_with(run.pk)
    run_evaluation(run.pk)
    run.refresh_from_db()
    assert (run.state, run.done, run.total) == (State.FINISHED, 1, 1)
    finished_at = run.finished_at
    run_evaluation(run.pk)
    run.refresh_from_db()
    assert run.finished_at == finished_at


def test_one_run_at_a_time_for_each_set_and_profile(own_set: EvaluationSet, queued: Mock) -> None:
    (run,) = start_runs(evaluation_set=own_set, profiles=["bm25"])
    again, other = start_runs(evaluation_set=own_set, profiles=["bm25", "dense"])
    assert (again.pk, other.profile) == (run.pk, "dense")
    run_evaluation(run.pk)
    assert start_runs(evaluation_set=own_set, profiles=["bm25"])[0].pk != run.pk


def test_a_broker_that_is_away_does_not_break_the_start_and_the_run_is_queued_later(
    own_set: EvaluationSet, queued: Mock, django_capture_on_commit_callbacks: Callable[..., Any]
) -> None:
    queued.side_effect = OperationalError
    with django_capture_on_commit_callbacks(execute=True):
        (run,) = start_runs(evaluation_set=own_set, profiles=["bm25"])
    queued.reset_mock(side_effect=True)
    EvaluationRun.objects.update(created_at=timezone.now() - EvaluationRun.UNBEGUN_AFTER)
    requeue_lost_jobs()
    queued.assert_called_once_with(run.pk)


@pytest.mark.parametrize(
    ("questions", "profiles", "said"), [(False, ["bm25"], "no accepted question"), (True, ["best"], "best")]
)
def test_what_cannot_run_is_refused_before_it_is_queued(
    own_set: EvaluationSet, queued: Mock, questions: bool, profiles: list[str], said: str
) -> None:
    if not questions:
        own_set.questions.update(status="proposed")
    with pytest.raises(ValidationError, match=said):
        start_runs(evaluation_set=own_set, profiles=profiles)
    assert not EvaluationRun.objects.exists()


@pytest.mark.parametrize(
    ("profile", "said"), [("gone", "No profile is called gone"), ("bm25+dense+rerank", "RERANKER_MODEL")]
)
def test_what_is_missing_is_said_by_the_run(own_set: EvaluationSet, profile: str, said: str, pages: None) -> None:
    own_set.collections.set(Collection.objects.all())
    run = new_run(own_set, profile=profile)
    run_evaluation(run.pk)
    run.refresh_from_db()
    assert run.state == State.FAILED
    assert said in run.message
    assert run.finished_at


def test_an_embedder_that_is_away_is_said_by_the_run(own_set: EvaluationSet, monkeypatch: pytest.MonkeyPatch) -> None:
    breaks_with(monkeypatch, EmbeddingUnavailable("The embedding server does not answer."))
    run = new_run(own_set)
    run_evaluation(run.pk)
    run.refresh_from_db()
    assert (run.state, run.message) == (State.FAILED, "The embedding server does not answer.")


def test_an_error_of_ours_is_raised_for_the_log_and_ends_the_run(
    own_set: EvaluationSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    breaks_with(monkeypatch, ZeroDivisionError("secret words"))
    run = new_run(own_set)
    with pytest.raises(ZeroDivisionError):
        run_evaluation(run.pk)
    run.refresh_from_db()
    assert run.state == State.FAILED
    assert "An error of ours" in run.message


def test_a_waiting_run_is_cancelled_at_once_and_never_begun(own_set: EvaluationSet, queued: Mock) -> None:
    run = new_run(own_set)
    cancel_run(run=run)
    run_evaluation(run.pk)
    run.refresh_from_db()
    assert (run.state, run.question_results.count()) == (State.CANCELLED, 0)


def test_a_run_that_goes_on_is_cancelled_between_two_questions(
    own_set: EvaluationSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = new_run(own_set)

    def asked(*_: object) -> Asked:
        cancel_run(run=run)
        return Asked([], 0.0, 0.0)

    monkeypatch.setattr("analytics.evaluation.runner.ask", asked)
    monkeypatch.setattr(Heartbeat, "SECONDS", 0)
    run_evaluation(run.pk)
    run.refresh_from_db()
    assert (run.state, run.question_results.count()) == (State.CANCELLED, 0)


def test_long_runs_have_workers_of_their_own() -> None:
    assert settings.CELERY_TASK_ROUTES[run_evaluation.name] == {"queue": "long"}


def test_the_demo_s_questions_become_a_set_once_and_edits_are_left_alone() -> None:
    demo = settings.BASE_DIR / "marcelcms" / "demo"
    collection = CollectionFactory(name="Lindental")
    rows = [json.loads(line) for line in (demo / "questions.jsonl").read_text("utf-8").splitlines()]
    urls = {url for row in rows for url in row["urls"]}
    for url in urls:
        DocumentFactory(collection=collection, url=url)
    made = load_questions(demo / "questions.jsonl", collection)
    assert (made.name, made.fingerprint) == ("Lindental", "")
    assert made.questions.count() == 90
    assert made.questions.filter(answerable=True, judgments__isnull=False).distinct().count() == 65
    assert not made.questions.filter(answerable=False, judgments__isnull=False).exists()
    made.questions.first().delete()  # type: ignore[union-attr]
    assert load_questions(demo / "questions.jsonl", collection) == made
    assert made.questions.count() == 89
    assert Document.objects.count() == len(urls)
