"""Evaluation sets, questions and runs, with sensible values."""

from typing import Any

from django.urls import reverse
from django.utils import timezone

from analytics.models import EvaluationQuestion, EvaluationRun, EvaluationSet, Judgment
from tests.factories import CollectionFactory, DocumentFactory


def url_of(row: Any, what: str = "change") -> str:
    return reverse(f"admin:analytics_{row._meta.model_name}_{what}", args=[row.pk])


def new_set(name: str = "Ours", *, questions: int = 1, **values: Any) -> EvaluationSet:
    """Create a set with answerable questions, each of them judged."""
    made = EvaluationSet.objects.create(name=name, **values)
    made.collections.set([CollectionFactory()])
    for number in range(questions):
        add_question(made, text=f"Question {number}?", answerable=True, documents=1)
    return made


def add_question(evaluation_set: EvaluationSet, *, documents: int = 0, **values: Any) -> EvaluationQuestion:
    number = EvaluationQuestion.objects.count()
    question = EvaluationQuestion.objects.create(evaluation_set=evaluation_set, external_id=f"q{number}", **values)
    for _ in range(documents):
        document = DocumentFactory(collection=evaluation_set.collections.get())
        Judgment.objects.create(question=question, document=document)
    return question


def finished_run(evaluation_set: EvaluationSet, *, profile: str = "default", mrr: float = 0.5) -> EvaluationRun:
    """Create a run in which every judged question is right at rank 1/mrr; evidence is below the threshold."""
    names = [*(f"recall@{k}" for k in (1, 5, 10, 25, 50, 100)), "map@100", "ndcg@10", "ndcg@100"]
    measures = {"mrr": mrr} | dict.fromkeys(names, 1.0 if mrr > 0.1 else 0.0)
    questions = list(evaluation_set.questions.all())
    run = EvaluationRun.objects.create(
        evaluation_set=evaluation_set,
        profile=profile,
        state="finished",
        finished_at=timezone.now(),
        results={
            "queries": len(questions),
            "judged": len(questions),
            "retrieval": measures,
            "evidence": {"auroc": 0.8},
            "seconds_per_query": {"p50": 0.01, "p95": 0.02},
        },
    )
    for question in questions:
        documents = list(question.judgments.values_list("document", flat=True))
        run.question_results.create(
            question=question,
            ranking=documents if mrr else [],
            measures=measures if documents else {},
            evidence=0.3,
            seconds=0.01,
        )
    return run
