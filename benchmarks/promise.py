"""Measures whether a promise about wrong answers is kept, on data sets whose right pages are known.

Each question is answered once with quotes, whatever its evidence. An answer is wrong if it quotes none of the right
pages, or if no page answers the question. Then half of the questions, or a fifth, drawn anew each time, chooses the
threshold, and the risk is read on the rest and on all of them. A small rest strays from the true risk by chance: that
alone makes it exceed a promise that is kept. So as many questions are drawn with replacement, too: then the risk on all
of them is the true one, as the theorem has it. Answers are kept in `var/promise`: delete it to ask again.

Then the notice of a drop is simulated: a year without one, and the nights after one of a known size.
"""

import json
from collections.abc import Iterator
from dataclasses import asdict
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from asgiref.sync import async_to_sync

from analytics.evaluation.datasets import load, read_dataset
from analytics.models import EvaluationQuestion
from analytics.promise.calibration import Form, Outcome, choose_threshold, curve, grid
from analytics.quality.statistics import EARLIER_NIGHTS, OVER, WINDOWS, Night, find_drop
from benchmarks.environment import ROOT
from benchmarks.measuring import say, table
from chat.pipeline.answering.extract import compose_quotes
from chat.pipeline.question import Question
from chat.pipeline.retrieval.search import retrieve
from chat.pipeline.understanding.route import understand

if TYPE_CHECKING:
    from numpy.typing import NDArray

DATASETS = ("mtrag-dev", "clinc150")
PROMISES = (0.05, 0.1, 0.2)
#: Which part of the questions chooses the threshold: the larger the rest, the less its risk strays from the true one.
SHARES = (0.5, 0.2)
RESPLITS = 1000
#: Answers a night, the share of right ones, and that after a drop.
DROPS = ((5, 0.9, 0.3), (5, 0.8, 0.2), (10, 0.9, 0.5), (20, 0.9, 0.6), (20, 0.8, 0.5))
YEARS, TRIES, NIGHTS = 20, 500, 365
KNOWN = max(WINDOWS) + EARLIER_NIGHTS
KEPT = ROOT / "var" / "promise"


def measure(data: Path | None) -> dict[str, Any]:
    if data is None:
        say("Name the folder with the data sets: --data FOLDER, which holds " + ", ".join(DATASETS) + ".")
        return {}
    rows = []
    for name in DATASETS:
        outcomes = read_outcomes(name, data)
        shown = curve(outcomes, [0.0, 0.4])
        wrong = f"wrong {shown[0].wrong:.3f} without a threshold, {shown[1].wrong:.3f} at 0.4"
        say(f"{name}: {len(outcomes)} questions; {wrong}\n")
        ways = product(SHARES, Form, PROMISES)
        rows += [resplit(name, outcomes, promise, form, share) for share, form, promise in ways]
    table(tuple(rows[0]), [tuple(row.values()) for row in rows])
    drops = [simulate_drops(size, share, after) for size, share, after in DROPS]
    say()
    table(tuple(drops[0]), [tuple(row.values()) for row in drops])
    return {"resplits": rows, "drops": drops}


def read_outcomes(name: str, data: Path) -> list[Outcome]:
    """Return the outcomes of all questions, from the file if they were asked before."""
    file = KEPT / f"{name}.json"
    if not file.exists():
        KEPT.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps([asdict(each) for each in ask_all(data / name)]), "utf-8")
    return [Outcome(**each) for each in json.loads(file.read_text("utf-8"))]


def ask_all(folder: Path) -> Iterator[Outcome]:
    evaluation_set = load(read_dataset(folder))
    collections = tuple(evaluation_set.collections.values_list("slug", flat=True))
    for question in evaluation_set.questions.prefetch_related("judgments"):
        right = {each.document_id for each in question.judgments.all() if each.grade}
        yield ask(question, right, collections)


def ask(question: EvaluationQuestion, right: set[int], collections: tuple[str, ...]) -> Outcome:
    history = tuple((str(role), str(text)) for role, text in question.history)
    context = async_to_sync(understand)(Question(question.text, history=history, collections=collections))
    async_to_sync(retrieve)(context)
    quoted = {piece.candidate.document_id for piece in compose_quotes(context)} if context.candidates else set()
    return Outcome(context.evidence or 0.0, is_wrong=bool(quoted) and not quoted & right, is_shown=bool(quoted))


def resplit(name: str, outcomes: list[Outcome], promise: float, form: Form, share: float) -> dict[str, Any]:
    """Choose the threshold on a random part, `RESPLITS` times, and read the risk on the rest and on all."""
    chance = np.random.default_rng(0)
    thresholds = grid(0.0)
    losses = np.array(
        [[each.is_shown and each.score >= at and each.is_wrong for at in thresholds] for each in outcomes]
    )
    answered = np.array([[each.is_shown and each.score >= at for at in thresholds] for each in outcomes])
    risks, risks_of_all, risks_drawn, answered_share = [], [], [], []

    def place_of(rows: "NDArray[np.int64]") -> int | None:
        chosen = choose_threshold([outcomes[at] for at in rows], promise, form, lowest=0.0)
        return None if chosen is None else thresholds.index(chosen)  # None: nothing is shown, so nothing wrong is

    verdicts = round(len(outcomes) * share)
    for _time in range(RESPLITS):
        order = chance.permutation(len(outcomes))
        rest = order[verdicts:]
        place = place_of(order[:verdicts])
        risks.append(_mean(losses[rest], place))
        risks_of_all.append(_mean(losses, place))
        answered_share.append(_mean(answered[rest], place))
        risks_drawn.append(_mean(losses, place_of(chance.integers(0, len(outcomes), verdicts))))
    return {
        "set": name,
        "promise": promise,
        "form": form.value,
        "verdicts": verdicts,
        "mean risk": round(float(np.mean(risks)), 4),
        "exceeds, rest": round(float(np.mean(np.array(risks) > promise)), 3),
        "exceeds, all": round(float(np.mean(np.array(risks_of_all) > promise)), 3),
        "exceeds, drawn": round(float(np.mean(np.array(risks_drawn) > promise)), 3),
        "answered": round(float(np.mean(answered_share)), 3),
    }


def _mean(values: "NDArray[np.bool_]", place: int | None) -> float:
    return 0.0 if place is None else float(values[:, place].mean())


def simulate_drops(size: int, share: float, after: float) -> dict[str, Any]:
    """Count the notices of years without a drop, and the drops that are found in their first two nights and week."""
    chance = np.random.default_rng(1)
    notices = 0
    for _year in range(YEARS):
        seen, is_on = _nights(chance, size, [share] * (KNOWN + NIGHTS)), False
        for at in range(KNOWN, len(seen)):
            known = seen[at - KNOWN : at + 1]
            if is_on:
                is_on = find_drop(known, level=OVER) is not None
            elif find_drop(known):
                is_on, notices = True, notices + 1
    found = np.zeros(7)
    for _try in range(TRIES):
        seen = _nights(chance, size, [share] * KNOWN + [after] * len(found))
        told = [find_drop(seen[at : KNOWN + at + 1]) is not None for at in range(len(found))]
        found += np.maximum.accumulate(told)
    return {
        "answers a night": size,
        "right": share,
        "false notices a year": notices / YEARS,
        "right after a drop": after,
        "found within 2 nights": round(float(found[1]) / TRIES, 3),
        "within 7": round(float(found[6]) / TRIES, 3),
    }


def _nights(chance: np.random.Generator, size: int, shares: list[float]) -> list[Night]:
    return [Night(int(right), size) for right in chance.binomial(size, shares)]
