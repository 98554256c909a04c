"""Runs in the admin: started, followed, read question by question, compared; and who may."""

import re
from collections.abc import Callable
from typing import Any
from unittest.mock import Mock

import pytest
from django.test import Client
from django.urls import reverse

from analytics.evaluation.answers.summary import Answered, summed_up
from analytics.evaluation.metrics.answers import MEASURES, NO_JUDGE
from analytics.models import EvaluationRun, EvaluationSet
from analytics.tasks import run_evaluation
from knowledge.models import Document
from tests.analytics.rows import add_question, finished_run, new_set, url_of
from tests.factories import DocumentFactory, UserFactory

pytestmark = pytest.mark.django_db
SETS = reverse("admin:analytics_evaluationset_changelist")
START = reverse("admin:analytics_evaluationrun_add")
QUESTIONS = reverse("admin:analytics_evaluationquestion_changelist")
SCRIPT = "<script>alert(1)</script>"


@pytest.fixture(autouse=True)
def queued(monkeypatch: pytest.MonkeyPatch) -> Mock:
    delay = Mock()
    monkeypatch.setattr(run_evaluation, "delay", delay)
    return delay


# --- runs ---


def test_runs_are_started_for_each_profile_and_queued(
    admin_client: Client, queued: Mock, django_capture_on_commit_callbacks: Callable[..., Any]
) -> None:
    made = new_set()
    with django_capture_on_commit_callbacks(execute=True):
        response = admin_client.post(START, {"evaluation_set": made.pk, "profiles": ["bm25", "dense"]})
    assert response["Location"] == url_of(made)
    runs = made.runs.order_by("pk")
    assert [(run.profile, run.requested_by.username) for run in runs] == [("bm25", "admin"), ("dense", "admin")]  # type: ignore[union-attr]
    assert [call.args for call in queued.call_args_list] == [(run.pk,) for run in runs]
    response = admin_client.post(START, {"evaluation_set": made.pk, "profiles": ["bm25"]})
    assert response["Location"] == url_of(runs[0])


@pytest.mark.parametrize(
    ("questions", "profiles", "said"),
    [(0, ["bm25"], "no accepted question"), (1, [], "Choose at least one profile"), (1, ["best"], "best")],
)
def test_what_cannot_run_is_said_at_the_door(
    admin_client: Client, questions: int, profiles: list[str], said: str
) -> None:
    made = new_set(questions=questions)
    assert said in admin_client.post(START, {"evaluation_set": made.pk, "profiles": profiles}).content.decode()
    assert not EvaluationRun.objects.exists()


def test_a_run_is_followed_and_stopped(admin_client: Client) -> None:
    run = EvaluationRun.objects.create(evaluation_set=new_set(), profile="bm25", state="running", done=3, total=9)
    page = admin_client.get(url_of(run)).content.decode()
    assert f'data-progress="{url_of(run, "progress")}"' in page
    progress = admin_client.get(url_of(run, "progress")).json()
    assert progress == {
        "state": "running",
        "message": "3 of 9 questions so far.",
        "counts": {"done": 3, "total": 9},
        "is_active": True,
    }
    admin_client.post(url_of(run, "cancel"))
    assert admin_client.get(url_of(run, "progress")).json()["is_active"] is False
    run.refresh_from_db()
    assert run.state == "cancelled"


def test_why_a_run_failed_is_told_as_text(admin_client: Client) -> None:
    run = EvaluationRun.objects.create(evaluation_set=new_set(), profile="bm25", state="failed", message=SCRIPT)
    for url in (url_of(run), reverse("admin:analytics_evaluationrun_changelist")):
        page = admin_client.get(url).content.decode()
        assert "&lt;script&gt;alert(1)" in page
        assert SCRIPT not in page


def test_questions_documents_and_names_are_text_never_markup(admin_client: Client) -> None:
    made = new_set(SCRIPT, questions=0)
    add_question(made, text=SCRIPT, reference=SCRIPT, answerable=True, documents=1)
    Document.objects.update(title=SCRIPT)
    one, other = finished_run(made), finished_run(made, mrr=1.0)
    compared = reverse("admin:analytics_evaluationrun_compare", args=[made.pk])
    for url in (
        SETS,
        QUESTIONS,
        url_of(made),
        url_of(made.questions.get()),
        url_of(one),
        f"{compared}?before={one.pk}&after={other.pk}",
    ):
        page = admin_client.get(url).content.decode()
        assert "&lt;script&gt;alert(1)" in page
        assert SCRIPT not in page


def read_texts(page: Any) -> list[str]:
    return [row.result.question.text for row in page.context["rows"]]


def test_each_question_shows_what_was_found_beside_what_is_right(admin_client: Client) -> None:
    made = new_set()
    run = finished_run(made)
    right = made.questions.get().judgments.get().document
    wrong = DocumentFactory(title="Something else", collection=right.collection)
    run.question_results.update(ranking=[wrong.pk, right.pk, 10**9])
    page = admin_client.get(url_of(run))
    (row,) = page.context["rows"]
    assert [(found.document, found.is_right) for found in row.found] == [(wrong, False), (right, True), (None, False)]
    assert (row.rank, row.abstains) == (2, True)
    text = page.content.decode()
    assert reverse("admin:knowledge_document_change", args=[wrong.pk]) in text
    assert "deleted since" in text
    assert f"question=Question%200%3F&amp;profile=default&amp;collection={right.collection.slug}" in text


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("", ["found", "missed", "unanswerable", "unjudged"]),
        ("missed", ["missed"]),
        ("abstains", ["found"]),
        ("answers", ["unanswerable"]),
        ("unjudged", ["unanswerable", "unjudged"]),
        ("nonsense", ["found", "missed", "unanswerable", "unjudged"]),
    ],
)
def test_results_are_narrowed(admin_client: Client, kind: str, expected: list[str]) -> None:
    made = new_set(questions=0)
    add_question(made, text="found", answerable=True, documents=1)
    add_question(made, text="missed", answerable=True, documents=1)
    add_question(made, text="unanswerable", answerable=False)
    add_question(made, text="unjudged")
    run = finished_run(made)
    for text, evidence, measures in (
        ("missed", 0.9, {"mrr": 0, "recall@10": 0.0}),
        ("unanswerable", 0.9, {}),
    ):
        run.question_results.filter(question__text=text).update(evidence=evidence, measures=measures)
    assert read_texts(admin_client.get(url_of(run), {"kind": kind})) == expected


def test_results_are_sorted_and_paged(admin_client: Client) -> None:
    made = new_set(questions=30)
    add_question(made, text="unjudged")
    run = finished_run(made)
    for number, result in enumerate(run.question_results.exclude(measures={})):
        result.measures["mrr"], result.evidence = number / 30, 1 - number / 30
        result.save()
    for sort, first in (("mrr", "Question 0?"), ("-mrr", "Question 29?"), ("-evidence", "Question 0?")):
        assert read_texts(admin_client.get(url_of(run), {"sort": sort}))[0] == first
    second = admin_client.get(url_of(run), {"sort": "mrr", "p": 2})
    assert read_texts(second)[-1] == "unjudged"
    assert len(read_texts(second)) == 6


# --- comparing ---


def test_two_runs_are_compared_in_plain_words(admin_client: Client) -> None:
    made = new_set(questions=40)
    worse, better = finished_run(made, profile="bm25", mrr=0.2), finished_run(made, profile="dense", mrr=1.0)
    url = reverse("admin:analytics_evaluationrun_compare", args=[made.pk])
    page = admin_client.get(url, {"before": worse.pk, "after": better.pk}).content.decode()
    assert "hardly chance (p = 0.000)" in page
    assert "the difference may be chance (p = 1.000)" in page
    assert "40 better, 0 worse" in page
    elsewhere = finished_run(new_set())
    for pair in ({"before": worse.pk, "after": elsewhere.pk}, {"before": "x"}, {}):
        assert admin_client.get(url, pair).status_code == 404


def test_runs_of_one_minute_are_told_apart(admin_client: Client) -> None:
    made = new_set()
    runs = [finished_run(made, profile="default") for _ in range(2)]
    page = admin_client.get(url_of(made)).content.decode()
    labels = re.findall(r"<option[^>]*>(#.*?)</option>", page)
    assert len(set(labels)) == 2
    for run in runs:
        assert sum(label.startswith(f"#{run.pk} ") for label in labels) == 2  # from one, to another
        assert f">#{run.pk}, " in page


# --- who may ---


@pytest.mark.parametrize(
    ("permissions", "expected"),
    [
        (["analytics.view_evaluationrun"], {"see": 200, "start": 403, "stop": 403, "set": 200, "delete": 403}),
        (["analytics.add_evaluationrun"], {"see": 403, "start": 200, "stop": 302, "set": 403, "delete": 403}),
        (["analytics.delete_evaluationrun"], {"see": 403, "start": 403, "stop": 403, "set": 403, "delete": 200}),
        (["chat.view_conversation"], {"see": 403, "start": 403, "stop": 403, "set": 403, "delete": 403}),
    ],
)
def test_who_may_do_what(client: Client, permissions: list[str], expected: dict[str, int]) -> None:
    client.force_login(UserFactory(permissions=permissions))
    made = new_set()
    run = finished_run(made)
    compared = reverse("admin:analytics_evaluationrun_compare", args=[made.pk])
    assert client.get(url_of(run)).status_code == expected["see"]
    assert client.get(url_of(run, "progress")).status_code == expected["see"]
    assert client.get(f"{compared}?before={run.pk}&after={run.pk}").status_code == expected["see"]
    assert client.get(START).status_code == expected["start"]
    assert client.post(url_of(run, "cancel")).status_code == expected["stop"]
    assert client.get(url_of(made)).status_code == expected["set"]
    assert client.get(url_of(run, "delete")).status_code == expected["delete"]
    assert client.post(url_of(made), {"name": "Mine"}).status_code == 403
    assert client.get(url_of(made.questions.get())).status_code == 403


def test_who_may_not_see_documents_gets_no_link_to_them(client: Client) -> None:
    client.force_login(UserFactory(permissions=["analytics.view_evaluationrun"]))
    page = client.get(url_of(finished_run(new_set()))).content.decode()
    assert "/knowledge/document/" not in page
    assert reverse("try-question") not in page


# --- answers ---


def answered_run(evaluation_set: EvaluationSet, **reply: Any) -> EvaluationRun:
    """Make a finished run whose questions got one reply each; `reply` changes it."""
    run = finished_run(evaluation_set)
    one = {
        "text": "It costs 318 euros [1].",
        "declined": False,
        "abstained": False,
        "evidence": 0.5,
        "seconds": 0.2,
        "first_token_seconds": None,
        "measures": dict.fromkeys(MEASURES, None) | {"rouge1": 0.25},
    } | reply
    for result in run.question_results.select_related("question"):
        result.answer = {"replies": [one], "without_history": [one], "perplexity": None}
        result.save()
    answered = [
        Answered(result.question.answerable, bool(result.question.history), [one], [one], None)
        for result in run.question_results.select_related("question")
    ]
    told = {"model": None, "judge": None, "samples": 1, "model_failures": 0, "judge_failures": 0}
    run.results |= {"answers": {**summed_up(answered, memory=True), **told, "unavailable": {"judge_clarity": NO_JUDGE}}}
    run.answering = {"sample": None, "samples": 1, "memory": True, "recipe": ""}
    run.save()
    return run


def test_a_run_that_answers_is_started_by_a_tick(admin_client: Client) -> None:
    made = new_set()
    assert 'name="answers"' in admin_client.get(START).content.decode()
    assert 'name="answers"' in admin_client.get(url_of(made)).content.decode()
    admin_client.post(START, {"evaluation_set": made.pk, "profiles": ["bm25"]})
    admin_client.post(START, {"evaluation_set": made.pk, "profiles": ["bm25"], "answers": "on"})
    without, with_answers = made.runs.order_by("pk")
    assert (without.answering, with_answers.answering["sample"], with_answers.answering["samples"]) == (None, None, 1)  # type: ignore[index]


def test_answering_is_told_apart_from_searching(admin_client: Client) -> None:
    run = EvaluationRun.objects.create(
        evaluation_set=new_set(), profile="bm25", state="running", done=3, total=9, results={"queries": 9}
    )
    progress = admin_client.get(url_of(run, "progress")).json()
    assert progress["message"] == "3 of 9 questions answered so far."


def test_answers_are_shown_in_tables_and_each_beside_its_reference(admin_client: Client) -> None:
    made = new_set(questions=0)
    add_question(made, text="How much?", answerable=True, reference="318.40 euros", history=[["user", "Hello"]])
    add_question(made, text="And on Mars?", answerable=False)
    page = admin_client.get(url_of(answered_run(made))).content.decode()
    for said in (
        "Quoted, without a language model.",
        "follow-up questions",
        "ROUGE-1",
        "0.250",
        "No model that judges answers is set up",
        "Follow-up questions with and without what was said before",
        "refused, of those not answerable",
        "Enough evidence",
        "It costs 318 euros [1].",
        "318.40 euros",
        'name="answers" value="on"',
    ):
        assert said in page


def test_an_answer_is_text_never_markup(admin_client: Client) -> None:
    page = admin_client.get(url_of(answered_run(new_set(), text=SCRIPT, declined=True))).content.decode()
    assert "&lt;script&gt;alert(1)" in page
    assert SCRIPT not in page
    assert "declined" in page
