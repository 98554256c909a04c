"""Fit a collection's classifier, and measure by cross-validation how good it is beside the nearest phrasing."""

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from faqs.matching.classifier import NO_FAQ, Curve, MatchClassifier, centre

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Ids = NDArray[np.int64]

#: Chosen on clinc150: from 0.1 to 3 little changes.
C = 0.3
#: Steps of the optimiser at most, and the largest gradient at which it stops, of one FAQ: gradients are means over all.
STEPS, GRADIENT = 50, 0.05
#: Parts that are held out one after another, and of how many parts of the FAQs one is held out as a whole beside them.
FOLDS, FAQ_FOLDS = 5, 10
#: Least and most questions that no FAQ is about, for each that one is about; FAQs held out as a whole stand for them.
NO_FAQ_SHARE = (0.25, 4.0)
#: Held-out ways to ask without which nothing can be told from them.
LEAST_HELD_OUT = 20
#: Serves no question: what could not be cross-validated is not used.
UNKNOWN = Curve(1.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Figures:
    """Share of `held_out` ways to ask with the right FAQ first, and the mean of 1 / its rank, for both ways."""

    held_out: int
    learned_first: float
    nearest_first: float
    learned_rank: float
    nearest_rank: float


def fit_classifier(vectors: "Floats", faqs: "Ids") -> MatchClassifier:
    """Return a classifier fitted to ways to ask (n, d) and the FAQ of each (n,), of two FAQs at least.

    It has no curve until `cross_validate` gives one.
    """
    from sklearn.linear_model import LogisticRegression

    mean = vectors.mean(axis=0)
    classes = np.unique(faqs)
    tolerance = min(1e-3, GRADIENT / len(classes))
    regression = LogisticRegression(C=C, max_iter=STEPS, tol=tolerance)
    with warnings.catch_warnings():
        # An FAQ with one phrasing is a class all the same.
        warnings.filterwarnings("ignore", message="The number of unique classes is greater")
        regression.fit(centre(vectors, mean), faqs)
    directions, offsets = regression.coef_, regression.intercept_
    if len(directions) == 1:  # of two classes scikit-learn tells the difference alone
        directions, offsets = np.vstack((-directions, directions)) / 2, np.hstack((-offsets, offsets)) / 2
    order = np.argsort(faqs, kind="stable")
    return MatchClassifier(
        mean=mean,
        directions=directions.astype(np.float32),
        offsets=offsets.astype(np.float32),
        faqs=classes,
        asks=vectors[order].astype(np.float16),
        begins=np.append(np.searchsorted(faqs[order], classes), len(faqs)),
        curve=UNKNOWN,
    )


def cross_validate(vectors: "Floats", faqs: "Ids", *, coverage: float) -> "tuple[Figures | None, Curve]":
    """Return the figures, None if too little can be held out, and the curve of the probability.

    Every way to ask of an FAQ that has others is held out once. In each fold a tenth of the FAQs is held out as a whole
    besides: their ways to ask are questions that no FAQ is about. How many of those there are is told by the
    `coverage`, the share of the collection's documents that FAQs lead to.
    """
    folds, faq_folds, can_be_held_out = _draw_folds(faqs)
    held = []
    for fold in range(FOLDS):
        unknown = (faq_folds == fold) | (faqs == NO_FAQ) & (folds == fold)
        asked = can_be_held_out & (folds == fold) & ~unknown
        known = ~asked & ~unknown
        if asked.any() and len(np.unique(faqs[known & (faqs != NO_FAQ)])) > 1:
            held.append(_ask(vectors, faqs, known, asked, unknown))
    if sum(len(each.learned_ranks) for each in held) < LEAST_HELD_OUT:
        return None, UNKNOWN
    learned, nearest = (np.concatenate([getattr(each, name) for each in held]) for name in RANKS)
    figures = Figures(
        held_out=len(learned),
        learned_first=float((learned == 1).mean()),
        nearest_first=float((nearest == 1).mean()),
        learned_rank=float((1 / learned).mean()),
        nearest_rank=float((1 / nearest).mean()),
    )
    return figures, _fit_curve(held, coverage)


def with_curve(classifier: MatchClassifier, curve: Curve) -> MatchClassifier:
    return replace(classifier, curve=curve)


def _draw_folds(faqs: "Ids") -> "tuple[Ids, Ids, NDArray[np.bool_]]":
    """Return the fold of each way to ask, that of its FAQ, and whether its FAQ has others; the same for the same."""
    chooser = np.random.default_rng(0)
    classes, places, counts = np.unique(faqs, return_inverse=True, return_counts=True)
    folds = np.zeros(len(faqs), dtype=np.int64)
    for place, count in enumerate(counts):
        folds[places == place] = (chooser.permutation(count) + chooser.integers(FOLDS)) % FOLDS
    faq_folds = chooser.permutation(len(classes)) % FAQ_FOLDS
    faq_folds[classes == NO_FAQ] = -1
    return folds, faq_folds[places], (counts[places] > 1) & (faqs != NO_FAQ)


RANKS = ("learned_ranks", "nearest_ranks")


@dataclass(frozen=True, slots=True)
class _Asked:
    """Ranks of the right FAQ for ways to ask of known FAQs; then score and cosine, (n, 2), of the FAQ that was first,
    for these and for unknown ones."""

    learned_ranks: "Ids"
    nearest_ranks: "Ids"
    firsts: "Floats"
    firsts_of_unknown: "Floats"


def _ask(
    vectors: "Floats", faqs: "Ids", known: "NDArray[np.bool_]", asked: "NDArray[np.bool_]", unknown: "NDArray[np.bool_]"
) -> _Asked:
    classifier = fit_classifier(vectors[known], faqs[known])
    is_faq = classifier.faqs != NO_FAQ
    classes = classifier.faqs[is_faq]

    def measure(which: "NDArray[np.bool_]") -> "tuple[Floats, Floats, Floats]":
        learned = classifier.scores(vectors[which])[:, is_faq]
        nearest = _nearest(vectors[which], vectors[known], faqs[known], classes)
        first = learned.argmax(axis=1)[:, None]
        both = [np.take_along_axis(scores, first, axis=1) for scores in (learned, nearest)]
        return learned, nearest, np.hstack(both)

    learned, nearest, firsts = measure(asked)
    right = np.searchsorted(classes, faqs[asked])
    return _Asked(_ranks(learned, right), _ranks(nearest, right), firsts, measure(unknown)[-1])


def _nearest(asked: "Floats", known: "Floats", faqs: "Ids", classes: "Ids") -> "Floats":
    """Return the cosine of each question to the nearest way to ask of each FAQ, of shape (n, k)."""
    order = np.argsort(faqs, kind="stable")
    order = order[faqs[order] != NO_FAQ]
    cosines = asked @ known[order].T
    nearest: Floats = np.maximum.reduceat(cosines, np.searchsorted(faqs[order], classes), axis=1)
    return nearest


def _ranks(scores: "Floats", right: "Ids") -> "Ids":
    own = scores[np.arange(len(right)), right]
    ranks: Ids = (scores > own[:, None]).sum(axis=1) + 1
    return ranks


def _fit_curve(held: list[_Asked], coverage: float) -> Curve:
    """Fit the log odds that the FAQ with the best score is the right one.

    They are the mean of those by its score alone and by the cosine of its nearest phrasing alone. What was learned from
    few FAQs does not know how far a question is from all of them; fitted together, the score would hide the cosine.
    """
    from sklearn.linear_model import LogisticRegression

    firsts = np.concatenate([each.firsts for each in held] + [each.firsts_of_unknown for each in held])
    is_right = np.concatenate([each.learned_ranks for each in held]) == 1
    unknown = len(firsts) - len(is_right)
    labels = np.concatenate((is_right, np.zeros(unknown, dtype=bool)))
    if labels.all() or not labels.any():
        return UNKNOWN
    share = min(max((1 - coverage) / max(coverage, 1e-6), NO_FAQ_SHARE[0]), NO_FAQ_SHARE[1])
    weights = np.concatenate((np.ones(len(is_right)), np.full(unknown, share * len(is_right) / max(unknown, 1))))
    parts = []
    for values in firsts.T:
        mean, spread = values.mean(), max(values.std(), 1e-6)
        regression = LogisticRegression(C=10.0).fit(((values - mean) / spread)[:, None], labels, sample_weight=weights)
        slope = max(float(regression.coef_[0, 0]) / spread, 1e-3)
        parts.append((slope / 2, (float(regression.intercept_[0]) - slope * mean) / 2))
    (of_score, first), (of_cosine, second) = parts
    return Curve(of_score, of_cosine, float(first + second))
