"""Clusters of questions, and which of them is which gap of the night before."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.cluster import AgglomerativeClustering
from sklearn.metrics import adjusted_rand_score, homogeneity_completeness_v_measure

from analytics.gaps.clustering import Bridge, average_link, cluster_vectors, in_order
from analytics.gaps.matching import identify


def unit(*angles: float) -> np.ndarray:
    """Return unit vectors in the plane, by their angles in degrees."""
    radians = np.radians(angles)
    return np.stack([np.cos(radians), np.sin(radians)], axis=1).astype(np.float32)


# --- clustering ---


def test_near_vectors_are_one_cluster_and_far_ones_are_others() -> None:
    labels = average_link(unit(0, 90, 5, 92, 200), threshold=0.9)
    assert labels.tolist() == [0, 1, 0, 1, 2]


def test_a_chain_is_not_followed_to_where_the_mean_is_too_far() -> None:
    # Each neighbour is near enough; single link would make one cluster of all.
    labels = average_link(unit(*range(0, 180, 20)), threshold=float(np.cos(np.radians(25))))
    assert len(set(labels.tolist())) > 3


@pytest.mark.parametrize("count", [0, 1])
def test_nothing_and_a_single_question_are_clustered_too(count: int) -> None:
    assert average_link(unit(*range(count)), threshold=0.5).tolist() == list(range(count))


def test_equal_questions_are_one_cluster_however_many() -> None:
    assert set(average_link(unit(*[10.0] * 50), threshold=0.99).tolist()) == {0}


@pytest.mark.parametrize("seed", range(5))
def test_it_is_average_link_as_others_compute_it(seed: int) -> None:
    random = np.random.default_rng(seed)
    vectors = random.normal(size=(150, 8)) + 2 * random.normal(size=(12, 8))[random.integers(0, 12, 150)]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    ours = average_link(vectors.astype(np.float32), threshold=0.6)
    theirs = AgglomerativeClustering(
        n_clusters=None, distance_threshold=0.4, metric="cosine", linkage="average"
    ).fit_predict(vectors)
    assert adjusted_rand_score(ours, theirs) == 1


def test_the_v_measure_is_as_reckoned_by_hand() -> None:
    # Two classes of two; one cluster holds both of the first and one of the second. H(C) = ln 2;
    # H(C|K) = 3/4 (1/3 ln 3 + 2/3 ln 3/2); H(K) = 3/4 ln 4/3 + 1/4 ln 4; H(K|C) = 1/2 ln 2.
    given_cluster = 0.75 * (np.log(3) / 3 + 2 / 3 * np.log(1.5))
    homogeneity = 1 - given_cluster / np.log(2)
    completeness = 1 - 0.5 * np.log(2) / (0.75 * np.log(4 / 3) + 0.25 * np.log(4))
    v_measure = 2 * homogeneity * completeness / (homogeneity + completeness)
    labels = average_link(unit(0, 1, 2, 90), threshold=0.9)
    assert homogeneity_completeness_v_measure([0, 0, 1, 1], labels) == pytest.approx(
        (homogeneity, completeness, v_measure)
    )


# --- two languages ---


def test_translations_come_together_though_each_language_lies_apart() -> None:
    # A third axis is the language; the mean of each is taken away.
    plane = unit(0, 120, 240)
    english = np.column_stack([plane, np.full(3, 2.0)])
    german = np.column_stack([plane, np.full(3, -2.0)])
    vectors = np.concatenate([english, german]).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    means = {"en": vectors[:3].mean(axis=0), "de": vectors[3:].mean(axis=0)}
    labels = cluster_vectors(vectors, ["en"] * 3 + ["de"] * 3, threshold=0.9, bridge=Bridge(means, 0.5))
    assert labels.tolist() == [0, 1, 2, 0, 1, 2]


def test_a_question_without_a_counterpart_stays_alone() -> None:
    means = {"en": np.zeros(2, dtype=np.float32), "de": np.zeros(2, dtype=np.float32)}
    labels = cluster_vectors(unit(0, 90), ["en", "de"], threshold=0.9, bridge=Bridge(means, 0.5))
    assert labels.tolist() == [0, 1]


def test_clusters_are_numbered_by_their_first_question() -> None:
    assert in_order(np.array([7, 2, 7, 5])).tolist() == [0, 1, 0, 2]


# --- identity ---

NOWHERE = unit(0)[0]


def same(clusters: list[set[int]], gaps: dict[int, set[int]]) -> tuple[dict, dict, dict]:
    found = identify(clusters, [NOWHERE] * len(clusters), gaps, {}, threshold=0.9)
    return dict(found.kept), dict(found.merged), dict(found.split)


def test_a_gap_that_grew_is_the_same_gap() -> None:
    assert same([{1, 2, 3}], {10: {1, 2}}) == ({0: 10}, {}, {})


def test_of_two_gaps_that_became_one_the_larger_stays_and_the_other_says_where_it_went() -> None:
    assert same([{1, 2, 3, 4}], {10: {1}, 11: {2, 3}}) == ({0: 11}, {10: 0}, {})


def test_of_a_gap_that_fell_apart_the_larger_part_is_the_gap_and_the_other_says_where_it_was() -> None:
    assert same([{1}, {2, 3}], {10: {1, 2, 3}}) == ({1: 10}, {}, {0: 10})


def test_a_tie_goes_to_the_older_gap() -> None:
    assert same([{1, 2}], {11: {1}, 10: {2}}) == ({0: 10}, {11: 0}, {})


def test_a_gap_whose_questions_were_deleted_is_found_again_by_its_middle() -> None:
    centroids = {10: unit(3)[0], 11: unit(50)[0]}
    found = identify([{7}, {8}], list(unit(1, 90)), {10: set(), 11: set()}, centroids, threshold=0.9)
    assert (dict(found.kept), dict(found.merged)) == ({0: 10}, {})


QUESTIONS = st.integers(0, 30)


@given(
    st.lists(QUESTIONS, max_size=31, unique=True).flatmap(
        lambda asked: st.tuples(
            st.lists(st.integers(0, 4), min_size=len(asked), max_size=len(asked)),
            st.lists(st.integers(100, 104), min_size=len(asked), max_size=len(asked)),
            st.just(asked),
        )
    )
)
def test_each_gap_goes_to_one_cluster_at_most_and_none_is_lost(
    parts: tuple[list[int], list[int], list[int]],
) -> None:
    numbers, owners, asked = parts
    groups: dict[int, set[int]] = {}
    gaps: dict[int, set[int]] = {}
    for question, number, owner in zip(asked, numbers, owners, strict=True):
        groups.setdefault(number, set()).add(question)
        gaps.setdefault(owner, set()).add(question)
    clusters = list(groups.values())
    kept, merged, split = same(clusters, gaps)
    assert len(set(kept.values())) == len(kept)
    assert {*kept.values(), *merged} == set(gaps)
    assert not set(kept.values()) & set(merged)
    assert {*kept, *split} == set(range(len(clusters)))
    for cluster, gap in (kept | split).items():
        assert clusters[cluster] & gaps[gap]


@given(st.lists(st.sets(QUESTIONS, min_size=1), max_size=6))
def test_what_did_not_change_keeps_its_identity(groups: list[set[int]]) -> None:
    seen: set[int] = set()
    clusters = []
    for group in groups:
        clusters.append(group - seen)
        seen |= group
    clusters = [cluster for cluster in clusters if cluster]
    gaps = {number + 100: set(cluster) for number, cluster in enumerate(clusters)}
    assert same(clusters, gaps) == ({number: number + 100 for number in range(len(clusters))}, {}, {})
