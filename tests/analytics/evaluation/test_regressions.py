from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from analytics.evaluation.metrics.ranking import MEASURES
from analytics.evaluation.runner import mark_regression
from analytics.models import EvaluationQuestion, EvaluationRun, EvaluationSet, QuestionResult
from tests.factories import UserFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def asked() -> EvaluationSet:
    made = EvaluationSet.objects.create(name="Ours")
    EvaluationQuestion.objects.bulk_create(
        EvaluationQuestion(evaluation_set=made, external_id=str(n), text=f"Question {n}?") for n in range(40)
    )
    return made


def ran(asked: EvaluationSet, reciprocal: float, *, profile: str = "default", **fields: Any) -> EvaluationRun:
    run = EvaluationRun.objects.create(evaluation_set=asked, profile=profile, **{"state": "finished"} | fields)
    measures = dict.fromkeys(MEASURES, reciprocal)
    QuestionResult.objects.bulk_create(
        QuestionResult(run=run, question=question, ranking=[], seconds=0.1, measures=measures)
        for question in asked.questions.all()
    )
    mark_regression(run)
    run.refresh_from_db()
    return run


def test_a_run_that_is_worse_by_more_than_chance_is_marked(asked: EvaluationSet) -> None:
    before = ran(asked, 1.0)
    after = ran(asked, 0.5)
    assert after.results["regression"] == {"before": before.pk, "worse": ["mrr", "recall@5"]}


def test_a_run_that_is_as_good_or_better_is_not(asked: EvaluationSet) -> None:
    ran(asked, 0.5)
    assert ran(asked, 0.5).results["regression"]["worse"] == []
    assert ran(asked, 1.0).results["regression"]["worse"] == []


def test_only_the_same_profiles_last_finished_run_counts(asked: EvaluationSet) -> None:
    ran(asked, 1.0, profile="bm25")
    ran(asked, 1.0, state="failed")
    assert "regression" not in ran(asked, 0.5).results


def test_staff_see_it_in_the_sets_history_and_in_the_list_and_open_what_got_worse(
    client: Client, asked: EvaluationSet
) -> None:
    before, after = ran(asked, 1.0), ran(asked, 0.5)
    client.force_login(UserFactory(is_superuser=True))
    history = client.get(reverse("admin:analytics_evaluationset_change", args=[asked.pk])).content.decode()
    assert "worse than the run before: MRR, R@5" in history
    assert f"before={before.pk}&amp;after={after.pk}" in history
    listed = client.get(reverse("admin:analytics_evaluationrun_changelist")).content.decode()
    assert "MRR, R@5" in listed
    compared = reverse("admin:analytics_evaluationrun_compare", args=[asked.pk])
    assert client.get(f"{compared}?before={before.pk}&after={after.pk}").status_code == 200
