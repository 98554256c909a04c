"""`manage.py evaluate --answers`: what is measured is what is served, and a run that was killed goes on."""

import json
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connections
from pytest_django import Settings

from analytics.evaluation.answers import runner
from analytics.evaluation.answers.options import AnswerOptions, broken_off
from analytics.evaluation.answers.summary import Answered, group, memory_test
from analytics.evaluation.services import start_runs
from analytics.models import EvaluationRun, EvaluationSet, QuestionResult
from analytics.tasks import run_evaluation
from chat.pipeline.retrieval.profiles import get_profile
from core.db.locks import Lock, advisory_lock
from core.jobs import Heartbeat, JobStopped
from tests.analytics.evaluation.test_datasets import folder
from tests.analytics.evaluation.test_runner import CORPUS, QRELS, QUERIES, evaluate
from tests.fakes.llm import FakeLLM

pytestmark = [
    pytest.mark.slow,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("_no_kept_connections"),
]

REFERENCE = "The semester contribution is 318.40 euros each semester."
HISTORY = [{"role": "user", "text": "What do I pay?"}, {"role": "assistant", "text": "A semester contribution."}]
ASKED = [
    QUERIES[0] | {"reference": REFERENCE},
    QUERIES[1] | {"history": HISTORY},
    QUERIES[3] | {"reference": "That is not known."},
]
UNANSWERED = ("faithfulness", "answer_relevance", "judge_clarity", "perplexity", "cross_encoder_similarity")


@pytest.fixture
def _no_kept_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    """Close connections, since a thread of the run's loop leaves its own behind."""
    monkeypatch.setitem(connections["default"].settings_dict, "CONN_MAX_AGE", 0)


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    qrels = "\n".join(line for line in QRELS.splitlines() if not line.startswith("room"))
    return folder(tmp_path, corpus=CORPUS, queries=ASKED, qrels=qrels)


def by_id(found: dict[str, Any]) -> dict[str, Any]:
    return {each["id"]: each for each in found["per_query"]}


def test_questions_are_answered_as_they_are_served_and_measured(dataset: Path) -> None:
    found, printed = evaluate(dataset, "--answers")
    measured = found["answers"]
    fee, mars = by_id(found)["fee"], by_id(found)["mars"]
    out = StringIO()
    slug = EvaluationSet.objects.get().collections.get().slug
    call_command("ask", ASKED[0]["text"], "--collection", slug, "--json", stdout=out)
    assert fee["answer"] == json.loads(out.getvalue())["answer"]
    assert (fee["abstained"], fee["strategy"], mars["abstained"]) == (False, "extractive", True)
    assert fee["measures"]["mrr"] == 1
    assert fee["measures"]["rouge1"] > 0.5
    assert fee["measures"]["answer_cosine"] > 0.8
    assert fee["measures"]["faithfulness_overlap"] == 1
    assert mars["measures"]["faithfulness_overlap"] is None
    groups = ("all", "answerable", "unanswerable", "single_turn", "follow_up")
    assert [measured[name]["questions"] for name in groups] == [3, 2, 1, 2, 1]
    assert measured["selectivity"]["answered_of_answerable"] == measured["selectivity"]["accuracy"] == 1
    assert len(measured["selectivity_curve"]) == 51
    assert (measured["model"], measured["judge"], measured["all"]["seconds"]["p95"] > 0) == (None, None, True)
    assert {measured["all"][name] for name in UNANSWERED} == {None}
    assert set(UNANSWERED) <= measured["unavailable"].keys()
    assert "| correctness (1 to 5) | – |" in printed
    assert "clarity (1 to 5): No model that judges answers is set up" in printed


def test_without_references_there_is_nothing_to_compare_with(dataset: Path) -> None:
    (dataset / "queries.jsonl").write_text("".join(f"{json.dumps(query)}\n" for query in QUERIES[:3]))
    (dataset / "qrels.tsv").write_text(QRELS)
    measured = evaluate(dataset, "--answers", "--sample", "2")[0]["answers"]
    assert measured["all"]["questions"] == 2
    assert measured["all"]["rouge1"] is None
    assert measured["unavailable"]["rouge1"] == "No question has a reference answer."
    assert measured["selectivity"]["accuracy"] is None


def test_a_model_writes_and_a_judge_judges_each_at_its_own_endpoint(
    dataset: Path, llm: FakeLLM, settings: Settings
) -> None:
    settings.JUDGE_BASE_URL, settings.JUDGE_MODEL = settings.LLM_BASE_URL, "judge"
    verdict = {"verdicts": [{"claim": 1, "supported": True}], "questions": [ASKED[0]["text"]], "declined": False}
    verdict |= dict.fromkeys(("correctness", "completeness", "relevance", "faithfulness", "clarity"), 4)
    written = llm.script
    llm.completes(lambda _text: json.dumps(verdict))
    judged = llm.script
    llm.script = lambda handler: (judged if handler.request_body["model"] == "judge" else written)(handler)
    found, printed = evaluate(dataset, "--answers", "--samples", "2", "--sample", "1")
    measured = found["answers"]
    assert (measured["model"], measured["judge"], measured["samples"]) == ("fake", "judge", 2)
    assert (measured["model_failures"], measured["judge_failures"]) == (0, 0)
    (row,) = [each for each in found["per_query"] if "answer" in each]
    assert row["strategy"] == "generated"
    assert len(row["replies"]) == 2
    assert (measured["all"]["judge_clarity"], measured["all"]["faithfulness"]) == (4, 1)
    assert measured["all"]["answer_relevance"] == pytest.approx(1, abs=0.4)
    assert "Answers of default, fake" in printed


def test_the_history_is_given_and_for_the_memory_test_withheld(dataset: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    collect, asked = runner.collect, []
    monkeypatch.setattr(runner, "collect", lambda ask: asked.append(ask) or collect(ask))
    found, printed = evaluate(dataset, "--answers", "--memory")
    assert [(ask.text, len(ask.history)) for ask in asked if ask.text == ASKED[1]["text"]] == [
        (ASKED[1]["text"], 2),
        (ASKED[1]["text"], 0),
    ]
    assert len(asked) == 4
    assert found["answers"]["memory"]["with_history"]["questions"] == 1
    assert found["answers"]["memory"]["difference"]["answered"] == 0
    assert "Follow-up questions with and without what was said before" in printed


def interrupted(after: int) -> Callable[[Any], Any]:
    """`collect`, which is killed at a further question."""
    collect, count = runner.collect, [0]

    def killed(ask: Any) -> Any:
        count[0] += 1
        if count[0] > after:
            raise KeyboardInterrupt
        return collect(ask)

    return killed


def test_a_run_that_was_killed_goes_on_and_another_kind_begins_anew(
    dataset: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(runner, "collect", interrupted(after=2))
        with pytest.raises(KeyboardInterrupt):
            evaluate(dataset, "--answers")
    run = EvaluationRun.objects.get()
    kept = dict(run.question_results.exclude(answer=None).values_list("question", "answer"))
    assert len(kept) == 2
    found, _ = evaluate(dataset, "--answers")
    run.refresh_from_db()
    assert (run.state, EvaluationRun.objects.count()) == ("finished", 1)
    assert found["answers"]["all"]["questions"] == 3
    assert dict(run.question_results.filter(question__in=kept).values_list("question", "answer")) == kept
    evaluate(dataset, "--answers", "--samples", "2")
    evaluate(dataset, "--answers")
    assert EvaluationRun.objects.count() == 3


def test_only_what_nobody_works_on_and_is_of_the_same_recipe_goes_on(dataset: Path, settings: Settings) -> None:
    evaluate(dataset, "--answers", "--sample", "1")
    run, profile, options = EvaluationRun.objects.get(), get_profile("default"), AnswerOptions(sample=1)
    of = run.evaluation_set
    assert broken_off(of, profile, options) is None  # it has finished
    EvaluationRun.objects.update(state="failed")
    assert broken_off(of, profile, options) == run
    assert broken_off(of, profile, AnswerOptions(sample=2)) is None
    assert broken_off(of, get_profile("bm25"), options) is None
    with advisory_lock(Lock.EVALUATION_RUN, row=run.pk):
        assert broken_off(of, profile, options) is None
    settings.LLM_MODEL = "another"
    assert broken_off(of, profile, options) is None


def test_a_failed_run_of_the_admin_goes_on_when_it_is_started_again(dataset: Path, settings: Settings) -> None:
    evaluate(dataset)
    evaluation_set = EvaluationSet.objects.get()
    settings.JUDGE_BASE_URL, settings.JUDGE_MODEL = "http://127.0.0.1:9/v1", "judge"
    (run,) = start_runs(evaluation_set=evaluation_set, profiles=["default"], answers=AnswerOptions())
    run_evaluation(run.pk)
    run.refresh_from_db()
    assert (run.state, "JUDGE_BASE_URL failed (not reachable)" in run.message) == ("failed", True)
    again = start_runs(evaluation_set=evaluation_set, profiles=["default"], answers=AnswerOptions())
    assert [(each.pk, each.state, each.message) for each in again] == [(run.pk, "queued", "")]
    settings.JUDGE_BASE_URL = ""  # the same run, where the judge has come back
    run_evaluation(run.pk)
    run.refresh_from_db()
    assert (run.state, run.results["answers"]["all"]["questions"]) == ("finished", 3)


def test_a_run_is_cancelled_between_two_answers(dataset: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Heartbeat, "SECONDS", 0)
    collect = runner.collect

    def cancelling(ask: Any) -> Any:
        EvaluationRun.objects.update(state="cancelled")
        return collect(ask)

    monkeypatch.setattr(runner, "collect", cancelling)
    with pytest.raises(JobStopped):
        evaluate(dataset, "--answers")
    assert QuestionResult.objects.exclude(answer=None).count() == 1


@pytest.mark.parametrize("arguments", [["--samples", "2"], ["--memory"], ["--sample", "3"]])
def test_how_to_answer_needs_answers(dataset: Path, arguments: list[str]) -> None:
    with pytest.raises(CommandError, match="add --answers"):
        evaluate(dataset, *arguments)


def test_a_judge_that_is_away_ends_the_command_with_what_to_do(dataset: Path, settings: Settings) -> None:
    settings.JUDGE_BASE_URL, settings.JUDGE_MODEL = "http://127.0.0.1:9/v1", "judge"
    with pytest.raises(CommandError, match="run this again to go on"):
        evaluate(dataset, "--answers")


# --- sums, by hand ---


def reply(*, words: float, cosine: float | None = None, declined: bool = False, seconds: float = 1.0) -> dict[str, Any]:
    measures = dict.fromkeys(answers_measures(), None) | {"words": words, "answer_cosine": cosine}
    shown = {"seconds": seconds, "first_token_seconds": None, "evidence": 0.5}
    return {"declined": declined, "abstained": declined, "measures": measures, **shown}


def answers_measures() -> tuple[str, ...]:
    from analytics.evaluation.metrics.answers import MEASURES

    return MEASURES


def test_replies_are_averaged_by_question_first() -> None:
    one = Answered(True, False, [reply(words=10), reply(words=20, declined=True)], [], 4.0)
    other = Answered(True, False, [reply(words=5, cosine=0.5)], [], None)
    found = group([one, other])
    assert (found["questions"], found["words"], found["answer_cosine"]) == (2, (15 + 5) / 2, 0.5)
    assert (found["answered"], found["perplexity"], found["rouge1"]) == (pytest.approx(2 / 3), 4, None)
    assert found["first_token_seconds"] == {"p50": None, "p95": None}
    assert group([])["words"] is None


def test_the_memory_test_tells_the_difference_the_history_makes() -> None:
    asked = Answered(True, True, [reply(words=10, cosine=0.9)], [reply(words=4, cosine=0.4, declined=True)], None)
    found = memory_test([asked])["difference"]
    assert (found["words"], found["answer_cosine"], found["answered"]) == (6, pytest.approx(0.5), 1)
    assert (found["rouge1"], found["answered_of_answerable"]) == (None, 1)
