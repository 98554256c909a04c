"""Average-link clustering of unit vectors; pure.

Exact, without a matrix of all pairs: the mean cosine between two clusters is the product of their mean vectors, and
since average link is reducible, every pair of clusters that are each other's nearest may be joined in the same round
(RAC, Sumengen et al. 2021).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from core.inference.embeddings.calibration import COMMON, Band

if TYPE_CHECKING:
    from collections.abc import Callable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Integers = NDArray[np.int64]


#: Rows of similarities at a time: with 10,000 clusters, 40 MB.
BLOCK = 1024


def average_link(vectors: "Floats", *, threshold: float, sizes: "Floats | None" = None) -> "Integers":
    """Return the cluster of each row, numbered from 0 in order of their first rows.

    `vectors` has unit rows, of shape (n, dimensions), or, with `sizes`, each the mean of so many of them. Clusters are
    joined, the most similar ones first, as long as the mean cosine of their pairs is `threshold` or more. Ties go to
    what comes first, so equal input has equal output.
    """
    labels = np.arange(len(vectors))
    sizes = np.ones(len(vectors), dtype=np.float32) if sizes is None else np.array(sizes, dtype=np.float32)
    sums = np.asarray(vectors, dtype=np.float32) * sizes[:, None]
    names = np.arange(len(vectors))  # of the clusters that may still be joined, by their first rows
    nearest, similarity = _nearest(vectors, np.arange(len(sums)))
    while True:
        # What is far from all others stays so: a mean is never above its largest part.
        alive = similarity >= threshold
        if not alive.all():
            kept = np.flatnonzero(alive)
            place = np.full(len(alive), -1)
            place[kept] = np.arange(len(kept))
            names, sums, sizes, similarity = names[kept], sums[kept], sizes[kept], similarity[kept]
            nearest = place[nearest[kept]]
        if not len(names):
            break
        first, second = _reciprocal(nearest, similarity)
        labels = _renamed(labels, names[second], names[first])
        sums[first] += sums[second]
        sizes[first] += sizes[second]
        joined = np.zeros(len(names), dtype=bool)
        joined[first] = joined[second] = True
        stale = joined | (nearest < 0) | joined[nearest]
        kept = np.setdiff1d(np.arange(len(names)), second)
        place = np.full(len(names), -1)
        place[kept] = np.arange(len(kept))
        names, sums, sizes = names[kept], sums[kept], sizes[kept]
        nearest, similarity, stale = place[nearest[kept]], similarity[kept], stale[kept]
        rows = np.flatnonzero(stale)
        nearest[rows], similarity[rows] = _nearest(sums / sizes[:, None], rows)
    return np.unique(labels, return_inverse=True)[1]


def _nearest(means: "Floats", rows: "Integers") -> "tuple[Integers, Floats]":
    """Find for each of `rows` the most similar other cluster and how similar it is; -1 and -inf where there is none."""
    nearest = np.full(len(rows), -1)
    similarity = np.full(len(rows), -np.inf, dtype=np.float32)
    if len(means) < 2:
        return nearest, similarity
    for begin in range(0, len(rows), BLOCK):
        block = rows[begin : begin + BLOCK]
        products = means[block] @ means.T
        products[np.arange(len(block)), block] = -np.inf
        best = products.argmax(axis=1)
        nearest[begin : begin + BLOCK] = best
        similarity[begin : begin + BLOCK] = products[np.arange(len(block)), best]
    return nearest, similarity


def _reciprocal(nearest: "Integers", similarity: "Floats") -> "tuple[Integers, Integers]":
    """Return pairs that are each other's nearest, the smaller first; the most similar pair if rounding hides them."""
    places = np.arange(len(nearest))
    first = np.flatnonzero((nearest[nearest] == places) & (places < nearest))
    if len(first):
        return first, nearest[first]
    best = int(similarity.argmax())
    pair = sorted((best, int(nearest[best])))
    return np.array(pair[:1]), np.array(pair[1:])


def _renamed(labels: "Integers", old: "Integers", new: "Integers") -> "Integers":
    names = np.arange(len(labels))
    names[old] = new
    return names[labels]


def to_cosine(band: Band, similarity: float) -> float:
    """Convert a similarity comparable across models to the cosine of this band (`Scale.of_question`)."""
    return COMMON.questions.to(band, similarity)


PAIRS = (
    ("How much is the semester fee?", "Wie hoch ist der Semesterbeitrag?"),
    ("When does the library close?", "Wann schließt die Bibliothek?"),
    ("How do I reset my password?", "Wie setze ich mein Passwort zurück?"),
    ("Where can I park my car?", "Wo kann ich mein Auto parken?"),
    ("How long is a bachelor's thesis?", "Wie lang ist eine Bachelorarbeit?"),
    ("Can I study abroad for a year?", "Kann ich ein Jahr im Ausland studieren?"),
    ("What if I am ill on the day of an exam?", "Was ist, wenn ich am Tag der Prüfung krank bin?"),
    ("Is there a vegan menu in the canteen?", "Gibt es in der Mensa ein veganes Menü?"),
    ("How do I rent a room in a hall?", "Wie miete ich ein Zimmer im Wohnheim?"),
    ("Who helps me with writing a CV?", "Wer hilft mir, einen Lebenslauf zu schreiben?"),
    ("How do I apply for a master's programme?", "Wie bewerbe ich mich für einen Master?"),
    ("What does the Germany ticket cost?", "Was kostet das Deutschlandticket?"),
    ("When are the dean's office hours?", "Wann ist die Sprechstunde der Dekanin?"),
    ("How do I deregister from the university?", "Wie lasse ich mich exmatrikulieren?"),
    ("Who looks after students with children?", "Wer betreut Studierende mit Kind?"),
    ("How do I print on campus?", "Wie drucke ich auf dem Campus?"),
    ("Which sports courses are there?", "Welche Sportkurse gibt es?"),
    ("How do I get a scholarship?", "Wie bekomme ich ein Stipendium?"),
    ("When does the lecture period begin?", "Wann beginnt die Vorlesungszeit?"),
    ("How do I set up the wifi?", "Wie richte ich das WLAN ein?"),
)


#: Between the mean similarity of unrelated questions (0) and that of translations (1): where no two strangers of
#: `translations.PAIRS` would be joined. A wrong pair costs staff more than a missed one.
NEARNESS = 0.65


@dataclass(frozen=True, slots=True)
class Bridge:
    """Places of a model's languages: the mean vector of each, and the least similarity of a pair across them."""

    means: "dict[str, Floats]"
    threshold: float

    def find_language(self, vector: "Floats") -> str:
        """Return which language's mean is nearest: for a question without a word that tells."""
        return max(self.means, key=lambda language: float(vector @ _unit(self.means[language][None])[0]))


def measured_bridge(embed_questions: "Callable[[Sequence[str]], Floats]") -> Bridge:
    """Measure the bridge between languages on a few questions and their translations."""
    texts = {"en": [english for english, _german in PAIRS], "de": [german for _english, german in PAIRS]}
    vectors = {language: embed_questions(of_it) for language, of_it in texts.items()}
    means = {language: of_it.mean(axis=0) for language, of_it in vectors.items()}
    products = _unit(vectors["en"] - means["en"]) @ _unit(vectors["de"] - means["de"]).T
    others = products[~np.eye(len(PAIRS), dtype=bool)].mean()
    return Bridge(means, float(others + NEARNESS * (np.diag(products).mean() - others)))


def cluster_vectors(vectors: "Floats", languages: Sequence[str], *, threshold: float, bridge: Bridge) -> "Integers":
    """Return the cluster of each row, numbered from 0 in order of their first rows.

    `vectors` has unit rows, of shape (n, dimensions), and each row is in one of the bridge's `languages`; `threshold`
    is a cosine within one language. A cluster is joined with the one of the other language where each is the other's
    nearest.
    """
    spoken = np.array(languages)
    labels = np.zeros(len(vectors), dtype=np.int64)
    named = 0
    for language in bridge.means:
        rows = np.flatnonzero(spoken == language)
        own = average_link(vectors[rows], threshold=threshold)
        labels[rows] = own + named
        named += int(own.max(initial=-1)) + 1
    names = np.arange(named)
    for first, second in find_translations(vectors, languages, labels, bridge):
        names[second] = first
    return in_order(names[labels])


def find_translations(
    vectors: "Floats", languages: Sequence[str], labels: "Integers", bridge: Bridge
) -> list[tuple[int, int]]:
    """Return the pairs of clusters, each in one language alone, that are each other's nearest across the languages."""
    spoken = np.array(languages)
    held = {language: np.unique(labels[spoken == language]) for language in bridge.means}
    one, other = held.values()
    both = np.intersect1d(one, other)
    sides: list[tuple[Integers, Floats]] = []
    for language, mean in bridge.means.items():
        rows = np.flatnonzero((spoken == language) & ~np.isin(labels, both))
        names, of_row = np.unique(labels[rows], return_inverse=True)
        sums = np.zeros((len(names), vectors.shape[1]), dtype=np.float32)
        np.add.at(sums, of_row, _unit(vectors[rows] - mean))
        sides.append((names, sums / np.bincount(of_row, minlength=len(names)).astype(np.float32)[:, None]))
    (english, first), (german, second) = sides
    if not len(english) or not len(german):
        return []
    products = first @ second.T
    there, back = products.argmax(axis=1), products.argmax(axis=0)
    places = np.arange(len(english))
    mutual = (back[there] == places) & (products[places, there] >= bridge.threshold)
    return list(zip(english[mutual].tolist(), german[there[mutual]].tolist(), strict=True))


def in_order(labels: "Integers") -> "Integers":
    """Renumber the clusters from 0 in order of their first rows."""
    _names, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    ordered: Integers = np.argsort(np.argsort(first))[inverse]
    return ordered


def compute_centroid(vectors: "Floats") -> "Floats":
    """Return the unit vector in the middle."""
    middle: Floats = _unit(vectors.mean(axis=0, keepdims=True))[0]
    return middle


def _unit(vectors: "Floats") -> "Floats":
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    units: Floats = (vectors / np.maximum(lengths, 1e-9)).astype(np.float32)
    return units
