"""Answers on every data set of a folder: measured as `manage.py evaluate --answers` does.

Written by a language model where LLM_BASE_URL names one, else quoted; judged where JUDGE_BASE_URL names a judge.
"""

from pathlib import Path
from typing import Any

from analytics.evaluation.answers.options import AnswerOptions
from analytics.evaluation.answers.report import answer_lines
from analytics.evaluation.datasets import load, read_dataset
from analytics.evaluation.runner import run
from analytics.models import EvaluationRun
from benchmarks.measuring import say
from chat.pipeline.retrieval.profiles import get_profile

#: With the questions that are answered of each; None: all of them.
DATASETS = {"mtrag-dev": None, "cmu-handbooks": None, "clinc150": 600}
QUICK = 30


def measure(data: Path | None, *, quick: bool) -> dict[str, Any]:
    if data is None:
        say("Name the folder with the data sets: --data FOLDER, which holds " + ", ".join(DATASETS) + ".")
        return {}
    return {name: measure_set(data / name, QUICK if quick else sample) for name, sample in DATASETS.items()}


def measure_set(folder: Path, sample: int | None) -> dict[str, Any]:
    """Return whether the memory test is made: if there are follow-up questions."""
    dataset = read_dataset(folder)
    options = AnswerOptions(sample=sample, memory=any(query.history for query in dataset.queries))
    profile = get_profile("default")
    row = EvaluationRun.objects.create(
        evaluation_set=load(dataset), profile=profile.name, answering=options.as_row(profile)
    )
    finished = run(row)
    say(f"\n{dataset.name}")
    for line in answer_lines(finished):
        say(line)
    return finished.results
