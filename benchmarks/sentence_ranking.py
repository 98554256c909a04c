"""Fit which sentence answers a question (`chat/pipeline/sentences/fitted_ranking.json`) to judged questions.

`manage.py shell -c "from benchmarks.sentence_ranking import main; main('COLLECTION', 'QUESTIONS.jsonl', ...)"` needs
the pages that the questions are about in the database. A row has `text`, `lang`, `expect`, `must` (patterns that an
answer has to hold) and perhaps `history`, as `../shared/data/student-questions` has them. The fitted weights are of
these and of `data/student_questions_training.jsonl`.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.measuring import say, table

if TYPE_CHECKING:
    from numpy.typing import NDArray

FOLDS, PENALTY = 10, 2.0


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """A question's sentences: features (units, k), which of them hold a fact that is asked for, and their texts."""

    features: "NDArray[np.float64]"
    right: "NDArray[np.bool_]"
    texts: Sequence[str]
    must: Sequence[str]


def main(collection: str, *questions: str) -> None:
    from chat.pipeline.sentences.ranking import FEATURES, FITTED

    rows = [json.loads(line) for file in questions for line in Path(file).read_text("utf-8").splitlines()]
    judged = [each for row in rows if row["expect"] == "answer" and (each := judge(row, collection))]
    fold = np.random.default_rng(0).integers(0, FOLDS, len(judged))
    first = holding = 0
    for number in range(FOLDS):
        weights = fit([each for each, place in zip(judged, fold, strict=True) if place != number])
        for each in (each for each, place in zip(judged, fold, strict=True) if place == number):
            order = np.argsort(-(each.features @ weights))
            first += bool(each.right[order[0]])
            best = " ".join(each.texts[place] for place in order[:4])
            holding += all(re.search(pattern, best, re.IGNORECASE) for pattern in each.must)
    possible = sum(bool(each.right.any()) for each in judged)
    table(
        ["questions", "a sentence is right", "the first one is", "the first four hold all"],
        [[len(judged), possible, first, holding]],
    )
    weights = fit(judged)
    FITTED.write_text(
        json.dumps({name: round(float(w), 3) for name, w in zip(FEATURES, weights, strict=True)}, indent=1) + "\n"
    )
    say(f"\n{FITTED.name} is written; the figures are of {FOLDS}-fold cross-validation by question.")


def judge(row: dict[str, Any], collection: str) -> Judged | None:
    """Return the sentences of the passages that are found for a question; None where there are none."""
    from asgiref.sync import async_to_sync

    from chat.pipeline.question import Question
    from chat.pipeline.retrieval.search import find_passages
    from chat.pipeline.sentences.quotable import LONGEST, quotable
    from chat.pipeline.sentences.ranking import SHORTEST, compare, compute_features
    from chat.pipeline.sentences.unit_vectors import embed_with_question
    from chat.pipeline.understanding.route import understand
    from core.language import detect_language

    asked = Question(
        row["text"],
        language=detect_language(row["text"]) or row["lang"],
        history=[(role, text) for role, text in row.get("history", ())],
        collections=[collection],
    )
    context = async_to_sync(understand)(asked)
    if not context.is_question:
        return None
    find_passages(context)
    units = [
        (candidate, quote)
        for candidate in context.candidates
        for quote in quotable(candidate.text)
        if SHORTEST <= len(quote.text) <= LONGEST
    ]
    if not units:
        return None
    texts = [quote.shown for _candidate, quote in units]
    right = [any(re.search(pattern, text, re.IGNORECASE) for pattern in row["must"]) for text in texts]
    question = context.turn.question
    features = compute_features(question, units, compare(question, units, embed_with_question))
    return Judged(features, np.array(right), texts, row["must"])


def fit(judged: Sequence[Judged]) -> "NDArray[np.float64]":
    """Return the weights under which right sentences are likeliest, by a softmax over each question's sentences."""
    from scipy.optimize import minimize

    scale = np.concatenate([each.features for each in judged]).std(axis=0) + 1e-9
    items = [(each.features / scale, each.right) for each in judged if each.right.any()]

    def loss(weights: "NDArray[np.float64]") -> tuple[float, "NDArray[np.float64]"]:
        lost, slope = 0.0, np.zeros_like(weights)
        for features, right in items:
            scores = features @ weights
            shares = np.exp(scores - scores.max())
            shares /= shares.sum()
            hit = shares[right].sum() + 1e-12
            lost -= float(np.log(hit))
            slope -= features.T @ (np.where(right, shares, 0.0) / hit - shares)
        return lost + PENALTY * float(weights @ weights), slope + 2 * PENALTY * weights

    found: NDArray[np.float64] = minimize(loss, np.zeros(len(scale)), jac=True, method="L-BFGS-B").x / scale
    return found
