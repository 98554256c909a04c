"""Counts sentences in which a model says that its sources hold nothing, and that are recognised; and others that are
taken for such.

`python -m benchmarks.refusals` asks every other one of the written sentences, which the classifier is not fitted to,
and the faithful sentences of the check's sealed file. `--fit` fits the classifier first: to the rest of the written
ones, and to the faithful sentences that the check of claims is fitted to.
"""

import sys
from typing import Any

import numpy as np

from benchmarks.claims import DATA, FITTED_TO, SEALED, read
from benchmarks.decisions import fit_classifier, run, vectors_of
from benchmarks.measuring import table

WRITTEN = DATA / "refusals_written.jsonl"
#: Share of the refusals that the threshold lets recognise, by cross-validation.
RECOGNISED = 0.9


def measure(*, fit: bool = False) -> dict[str, Any]:
    from chat.pipeline.guardrails.refusals import FITTED, refuses
    from chat.pipeline.guardrails.sentence_classifier import get_classifier

    halves: tuple[list[Any], list[Any]] = ([], [])
    for number, row in enumerate(read(WRITTEN)):
        halves[number % 2].append(row)
    learned, others = halves
    if fit:
        wanted = [row["text"] for row in learned if row["refuses"]]
        unwanted = [row["text"] for row in learned if not row["refuses"]]
        unwanted += [row["sentence"] for path in FITTED_TO for row in read(path) if row["supported"]]
        fit_classifier(wanted, unwanted, recognised=RECOGNISED).save(FITTED)
        get_classifier.cache_clear()
    faithful = [row | {"text": row["sentence"], "refuses": False} for row in read(SEALED) if row["supported"]]
    results: dict[str, Any] = {}
    for name, rows in (("other half", others), ("faithful sentences", faithful)):
        found = np.array([refuses(vector) for vector in vectors_of([row["text"] for row in rows])])
        for language in ("en", "de"):
            for kind in (True, False):
                of = np.array([row["language"] == language and row["refuses"] is kind for row in rows])
                if of.any():
                    key = f"{name}, {language}, {'refusals' if kind else 'statements'}"
                    results[key] = {"sentences": int(of.sum()), "recognised": round(float(found[of].mean()), 3)}
    table(["", "sentences", "recognised"], [[name, *each.values()] for name, each in results.items()])
    return results


if __name__ == "__main__":
    sys.exit(run("refusals", measure, __doc__))
