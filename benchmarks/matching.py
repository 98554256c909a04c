"""Measures how well the FAQ that is meant is found: by all phrasings, by the nearest one, by the question alone.

The classifier alone is measured, over the vectors of real questions; `profiles` measures whole retrieval. No data set
has eight phrasings an FAQ: in a second table four of the questions that mean it are lent to it, and all rows are of the
questions that are left. Sizes are made of the data set's own vectors: an FAQ of four phrasings is a mixture of two
texts, with another one mixed into each phrasing.
"""

import json
import resource
import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from analytics.evaluation.metrics.ranking import auroc
from benchmarks.measuring import say, table
from core.inference.embeddings import get_embedder
from faqs.matching.classifier import MatchClassifier, probability
from faqs.matching.fitting import cross_validate, fit_classifier, with_curve

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

DATASETS = ("clinc150", "stackfaq-dev")
PHRASINGS = (1, 2, 4, 8)
#: Questions that become phrasings of the FAQ that they mean; two at least are left to be asked.
LENT, LEFT = 4, 2
SIZES = (100, 500, 2000)
WAYS_A_FAQ = 5
BINS = 10


def measure(data: Path | None) -> dict[str, Any]:
    if data is None:
        say("Name the folder with the data sets: --data FOLDER, which holds " + ", ".join(DATASETS) + ".")
        return {}
    results: dict[str, Any] = {}
    vectors: Floats = np.empty((0, 0), np.float32)
    for name in DATASETS:
        ways, asked, truth = read_set(data / name)
        results[name] = measure_set(ways, asked, truth)
        if len(ways[0]) > 1:
            results[f"{name}, questions lent"] = measure_set(*lend_questions(ways, asked, truth))
        vectors = np.vstack([*ways, asked]) if not len(vectors) else vectors
    results["sizes"] = [measure_size(size, vectors) for size in SIZES]
    report(results)
    return results


def read_set(folder: Path) -> "tuple[list[Floats], Floats, NDArray[np.int64]]":
    """Return the vectors of each FAQ's question and phrasings, of the questions, and which FAQ is meant or -1."""
    faqs = json.loads((folder / "faqs.json").read_text("utf-8"))
    questions = [json.loads(line) for line in (folder / "queries.jsonl").read_text("utf-8").splitlines()]
    right = read_right(folder, faqs)
    embed = get_embedder().embed_questions
    ways = [embed([faq["question"], *faq["phrasings"]]) for faq in faqs]
    truth = np.array([right.get(each["_id"], -1) for each in questions])
    return ways, embed([each["text"] for each in questions]), truth


def lend_questions(
    ways: "Sequence[Floats]", asked: "Floats", truth: "NDArray[np.int64]"
) -> "tuple[list[Floats], Floats, NDArray[np.int64]]":
    """Return the set with up to LENT questions of each FAQ among its phrasings instead of the questions."""
    chooser = np.random.default_rng(0)
    lent = [chooser.permutation(np.flatnonzero(truth == place)) for place in range(len(ways))]
    lent = [each[: max(0, min(LENT, len(each) - LEFT))] for each in lent]
    more = [np.vstack([known, asked[places]]) for known, places in zip(ways, lent, strict=True)]
    is_left = ~np.isin(np.arange(len(asked)), np.concatenate(lent))
    return more, asked[is_left], truth[is_left]


def measure_set(ways: "Sequence[Floats]", asked: "Floats", truth: "NDArray[np.int64]") -> list[dict[str, Any]]:
    most = max(map(len, ways)) - 1
    rows = []
    for count in sorted({min(count, most) for count in PHRASINGS} | {0} if most else {0}):
        known = [each[: count + 1] for each in ways]
        labels = np.concatenate([np.full(len(each), place + 1) for place, each in enumerate(known)])
        rows.append({"phrasings": count, **compare(np.vstack(known), labels, asked, truth)})
    return rows


def read_right(folder: Path, faqs: list[dict[str, Any]]) -> dict[str, int]:
    """Return the place of the FAQ that each judged question means: the one that leads to the judged document."""
    documents = (json.loads(line) for line in (folder / "corpus.jsonl").read_text("utf-8").splitlines())
    addresses = {each["_id"]: each.get("url", "") for each in documents}
    places = {source: place for place, faq in enumerate(faqs) for source in faq["sources"]}
    judged = [line.split("\t") for line in (folder / "qrels.tsv").read_text("utf-8").splitlines()[1:]]
    return {row[0]: places[addresses[row[-2]]] for row in judged if addresses.get(row[-2]) in places}


def compare(
    vectors: "Floats", labels: "NDArray[np.int64]", asked: "Floats", truth: "NDArray[np.int64]"
) -> dict[str, Any]:
    began = time.perf_counter()
    classifier = fit_classifier(vectors, labels)
    fitted = time.perf_counter()
    figures, curve = cross_validate(vectors, labels, coverage=1.0)
    checked = time.perf_counter()
    classifier = with_curve(classifier, curve)
    cosines = asked @ vectors.T
    begins = np.searchsorted(labels, classifier.faqs)
    by_way = {
        "learned": classifier.scores(asked),
        "nearest phrasing": np.maximum.reduceat(cosines, begins, axis=1),
        "question alone (Marcel)": cosines[:, begins],
    }
    is_known = truth >= 0
    sure = {name: scores.max(axis=1) for name, scores in by_way.items()}
    error = None
    if figures:
        likeliest = [classifier.match(each, most=1)[0] for each in asked]
        sure["learned"] = np.array([probability(log_odds) for _faq, log_odds in likeliest])
        is_right = np.array([faq for faq, _log_odds in likeliest]) == truth + 1
        error = calibration_error(sure["learned"], is_right)
    return {
        "ways": {
            name: {
                "mrr": reciprocal_rank(scores[is_known], truth[is_known]),
                "auroc": auroc(is_known.tolist(), sure[name].tolist()),
            }
            for name, scores in by_way.items()
        },
        "calibration_error": error,
        "chosen": "learned" if figures and figures.learned_rank > figures.nearest_rank else "nearest phrasing",
        "fit_seconds": round(fitted - began, 2),
        "check_seconds": round(checked - fitted, 2),
    }


def reciprocal_rank(scores: "Floats", truth: "NDArray[np.int64]") -> float:
    own = scores[np.arange(len(truth)), truth]
    return round(float((1 / ((scores > own[:, None]).sum(axis=1) + 1)).mean()), 4)


def calibration_error(likely: "Floats", is_right: "NDArray[np.bool_]") -> float:
    """Return the mean distance of the probability to the share that is right, of BINS bins of equal width.

    Each bin weighs as much as it has questions (Naeini, Cooper and Hauskrecht 2015).
    """
    bins = np.minimum((likely * BINS).astype(int), BINS - 1)
    distances = [
        abs(likely[bins == each].mean() - is_right[bins == each].mean()) * (bins == each).mean()
        for each in np.unique(bins)
    ]
    return round(float(sum(distances)), 3)


def measure_size(size: int, vectors: "Floats") -> dict[str, Any]:
    """Measure a fit of `size` FAQs with four phrasings each, and what a question costs."""
    chooser = np.random.default_rng(0)

    def some(count: int) -> "Floats":
        return vectors[chooser.integers(len(vectors), size=count)]

    base = np.repeat(0.7 * some(size) + 0.3 * some(size), WAYS_A_FAQ, axis=0)
    made = base + 0.5 * some(size * WAYS_A_FAQ)
    made = (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)
    labels = np.repeat(np.arange(1, size + 1), WAYS_A_FAQ)
    began = time.perf_counter()
    classifier = fit_classifier(made, labels)
    fitted = time.perf_counter()
    _figures, curve = cross_validate(made, labels, coverage=1.0)
    checked = time.perf_counter()
    stored = with_curve(classifier, curve).dump()
    served = MatchClassifier.load(stored)
    times = []
    for vector in made[:200]:
        start = time.perf_counter()
        served.match(vector, most=30)
        times.append((time.perf_counter() - start) * 1000)
    return {
        "faqs": size,
        "fit_seconds": round(fitted - began, 2),
        "check_seconds": round(checked - fitted, 2),
        "peak_mib": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
        "stored_mib": round(len(stored) / 2**20, 1),
        "question_ms": round(statistics.median(times), 3),
    }


def report(results: dict[str, Any]) -> None:
    for name, measured in results.items():
        if name == "sizes":
            continue
        say(f"\n{name}\n")
        rows = [
            [
                row["phrasings"],
                way,
                each["mrr"],
                round(each["auroc"], 4) if each["auroc"] else "–",
                row["calibration_error"] if way == "learned" and row["calibration_error"] is not None else "–",
                row["chosen"],
            ]
            for row in measured
            for way, each in row["ways"].items()
        ]
        table(["phrasings", "way", "MRR", "AUROC", "calibration error", "chosen"], rows)
    say("")
    head = ["faqs", "fit_seconds", "check_seconds", "peak_mib", "stored_mib", "question_ms"]
    table(head, [[row[key] for key in head] for row in results["sizes"]])
