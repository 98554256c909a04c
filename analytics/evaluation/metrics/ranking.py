"""Measures of rankings and of the evidence signal, from libraries: ir-measures (MacAvaney et al. 2022), scikit-learn
and SciPy; pure. The last two are loaded where they are used: they would be a quarter of a web process's start."""

from collections.abc import Mapping, Sequence

import ir_measures
import numpy as np
from ir_measures import AP, RR, Qrel, R, ScoredDoc, nDCG

#: As they are called in the results.
MEASURES = {
    "mrr": RR,
    **{f"recall@{k}": R @ k for k in (1, 5, 10, 25, 50, 100)},
    "map@100": AP @ 100,
    **{f"ndcg@{k}": nDCG @ k for k in (10, 100)},
}
RESAMPLINGS = 10_000
#: Resampled values in memory at once: all of them would be gigabytes for thousands of questions.
VALUES_AT_ONCE = 2_000_000


def measure_rankings(
    qrels: Mapping[str, Mapping[str, int]], rankings: Mapping[str, Sequence[str]]
) -> dict[str, dict[str, float]]:
    """Return measures by query and name, of every query with a judgment; `rankings` are document ids, best first."""
    judged = [Qrel(query, document, grade) for query, grades in qrels.items() for document, grade in grades.items()]
    scored = [
        ScoredDoc(query, document, -float(place))
        for query in qrels
        for place, document in enumerate(rankings.get(query, ()))
    ]
    found: dict[str, dict[str, float]] = {query: dict.fromkeys(MEASURES, 0.0) for query in qrels}
    names = {measure: name for name, measure in MEASURES.items()}
    if scored:
        for metric in ir_measures.iter_calc(list(MEASURES.values()), judged, scored):
            found[metric.query_id][names[metric.measure]] = float(metric.value)
    return found


def means(by_query: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Return the mean of every measure over the queries; empty without queries."""
    if not by_query:
        return {}
    return {name: float(np.mean([values[name] for values in by_query.values()])) for name in MEASURES}


def auroc(answerable: Sequence[bool], evidence: Sequence[float]) -> float | None:
    """Return the chance that an answerable question has more evidence than another; None if a class is empty."""
    if len(set(answerable)) < 2:
        return None
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score(answerable, evidence))


def randomisation_p(one: Sequence[float], other: Sequence[float]) -> float:
    """Two-sided p of a paired randomisation test on the difference of means (Smucker et al. 2007)."""
    differences = np.asarray(one) - np.asarray(other)
    if len(differences) < 2 or not differences.any():
        return 1.0
    from scipy.stats import permutation_test

    result = permutation_test(
        (np.asarray(one), np.asarray(other)),
        lambda a, b, axis: np.mean(a - b, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=RESAMPLINGS,
        batch=max(1, VALUES_AT_ONCE // len(differences)),
        rng=np.random.default_rng(1),
    )
    return float(result.pvalue)


def bonferroni(p: float, comparisons: int) -> float:
    return min(1.0, p * comparisons)
