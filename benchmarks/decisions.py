"""Counts sentences that tell a student an outcome, and are recognised; and others that are taken for such.

`python -m benchmarks.decisions` asks the sentences of a hand that saw neither the product nor the others. `--fit` fits
the classifier first: to those of another hand, and to the faithful sentences that the check of claims is fitted to.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.claims import DATA, FITTED_TO, SEALED, configure, read
from benchmarks.measuring import table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from chat.pipeline.guardrails.sentence_classifier import SentenceClassifier

WRITTEN, UNREAD = DATA / "decisions_written.jsonl", DATA / "decisions_sealed.jsonl"
#: Inverse strength of the penalty on weights, chosen by cross-validation.
C = 0.3
#: Share of the written outcomes that the threshold lets recognise, by cross-validation.
RECOGNISED = 0.96
FOLDS = 10
#: Vectors are centred and stretched by so much, where the penalty was chosen.
SCALE = 10.0


def measure(*, fit: bool = False) -> dict[str, Any]:
    from chat.pipeline.guardrails.outcomes import FITTED
    from chat.pipeline.guardrails.sentence_classifier import get_classifier

    if fit:
        written = read(WRITTEN)
        others = [row["text"] for row in written if not row["decides"]]
        others += [row["sentence"] for path in FITTED_TO for row in read(path) if row["supported"]]
        wanted = [row["text"] for row in written if row["decides"]]
        fit_classifier(wanted, others, recognised=RECOGNISED).save(FITTED)
        get_classifier.cache_clear()
    faithful = [row | {"text": row["sentence"], "decides": False} for row in read(SEALED) if row["supported"]]
    results: dict[str, Any] = {}
    for name, rows in (("another hand's", read(UNREAD)), ("faithful sentences", faithful)):
        found = recognise([row["text"] for row in rows])
        for language in sorted({row["language"] for row in rows}):
            for decides in (True, False):
                of = np.array([row["language"] == language and row["decides"] is decides for row in rows])
                if of.any():
                    key = f"{name}, {language}, {'outcomes' if decides else 'others'}"
                    shares = {way: round(float(each[of].mean()), 3) for way, each in found.items()}
                    results[key] = {"sentences": int(of.sum()), **shares}
    table(["recognised", "sentences", *found], [[name, *each.values()] for name, each in results.items()])
    return results


def recognise(texts: Sequence[str]) -> "dict[str, NDArray[np.bool_]]":
    """Return which sentences are recognised by rules, by their vectors, and by one of the two."""
    from chat.pipeline.guardrails.eligibility import may_decide
    from chat.pipeline.guardrails.outcomes import tells_outcome

    by_rules = np.array([may_decide(text) for text in texts])
    by_vector = np.array([tells_outcome(vector) for vector in vectors_of(texts)])
    return {"rules": by_rules, "vector": by_vector, "either": by_rules | by_vector}


def fit_classifier(wanted: Sequence[str], others: Sequence[str], *, recognised: float) -> "SentenceClassifier":
    """Fit a classifier of sentences; `recognised` is the share of the wanted ones that its threshold lets through."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    from chat.pipeline.guardrails.sentence_classifier import SentenceClassifier

    is_wanted = np.array([True] * len(wanted) + [False] * len(others))
    vectors = vectors_of([*wanted, *others])
    mean = vectors.mean(axis=0)
    regression = LogisticRegression(C=C, max_iter=5000)
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    centred = (vectors - mean) * SCALE
    scores = cross_val_predict(regression, centred, is_wanted, cv=folds, method="decision_function")
    regression.fit(centred, is_wanted)
    weights = regression.coef_[0] * SCALE
    # The sum of a vector that was not centred has no offset; the threshold takes it in.
    offset = float(regression.intercept_[0]) - float(weights @ mean)
    least = float(np.quantile(scores[is_wanted], 1 - recognised)) - offset
    return SentenceClassifier(weights.astype(np.float32), least)


def vectors_of(texts: Sequence[str]) -> "NDArray[np.float32]":
    from chat.pipeline.sentences.unit_vectors import compute_vectors

    found = compute_vectors(texts)
    return np.stack([found[text] for text in texts])


def run(name: str, measure: Callable[..., Any], description: str | None) -> int:
    """Run a measurement of a sentence classifier from the command line."""
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks.{name}", description=description)
    parser.add_argument("--fit", action="store_true", help="fit the classifier first")
    fit = parser.parse_args().fit
    configure()
    measure(fit=fit)
    return 0


if __name__ == "__main__":
    sys.exit(run("decisions", measure, __doc__))
