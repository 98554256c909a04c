"""Measures as libraries make them, against cases computed by hand."""

from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.evaluation.metrics.ranking import MEASURES, auroc, bonferroni, means, measure_rankings, randomisation_p


def test_a_ranking_is_measured_as_by_hand() -> None:
    qrels = {"q": {"a": 1, "b": 1, "z": 1}}
    found = measure_rankings(qrels, {"q": ["x", "a", "y", "b"]})["q"]
    assert found["mrr"] == pytest.approx(1 / 2)
    assert [found[f"recall@{k}"] for k in (1, 5, 100)] == pytest.approx([0, 2 / 3, 2 / 3])
    assert found["map@100"] == pytest.approx((1 / 2 + 2 / 4) / 3)
    ideal = 1 / log2(2) + 1 / log2(3) + 1 / log2(4)
    assert found["ndcg@10"] == found["ndcg@100"] == pytest.approx((1 / log2(3) + 1 / log2(5)) / ideal)


def test_grades_count_for_ndcg_alone() -> None:
    found = measure_rankings({"q": {"a": 1, "b": 3}}, {"q": ["a", "b"]})["q"]
    assert found["ndcg@10"] == pytest.approx((1 + 3 / log2(3)) / (3 + 1 / log2(3)))
    assert found["mrr"] == found["map@100"] == 1


def test_a_query_that_found_nothing_counts_as_zero_and_one_without_judgments_not_at_all() -> None:
    found = measure_rankings({"q": {"a": 1}, "r": {"b": 1}}, {"q": ["a"], "s": ["a"]})
    assert found.keys() == {"q", "r"}
    assert means(found) == pytest.approx(dict.fromkeys(MEASURES, 0.5))
    assert means({}) == {}
    assert measure_rankings({"q": {"a": 1}}, {}) == {"q": dict.fromkeys(MEASURES, 0.0)}


def test_auroc_is_the_share_of_pairs_in_the_right_order() -> None:
    # of the pairs (0.9, 0.5), (0.9, 0.2), (0.4, 0.5), (0.4, 0.2) three are right
    assert auroc([True, True, False, False], [0.9, 0.4, 0.5, 0.2]) == pytest.approx(3 / 4)
    assert auroc([True, False], [0.5, 0.5]) == pytest.approx(1 / 2)
    assert auroc([True, True], [0.1, 0.2]) is None
    assert auroc([], []) is None


def test_a_difference_of_three_pairs_cannot_be_significant_and_of_forty_is() -> None:
    # 2^3 signs, of which all plus and all minus are as extreme: p = 2/8
    assert randomisation_p([1, 1, 1], [0, 0, 0]) == pytest.approx(2 / 8)
    assert randomisation_p([1.0] * 40, [0.0] * 40) < 0.001
    assert randomisation_p([1, 0] * 20, [0, 1] * 20) > 0.9
    assert randomisation_p([0.5, 1], [0.5, 1]) == 1


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=12))
def test_the_test_does_not_care_which_comes_first(pairs: list[tuple[float, float]]) -> None:
    one, other = zip(*pairs, strict=True)
    p = randomisation_p(one, other)
    assert 0 < p <= 1
    assert randomisation_p(other, one) == pytest.approx(p, abs=0.02)


def test_many_comparisons_are_corrected() -> None:
    assert bonferroni(0.01, 3) == pytest.approx(0.03)
    assert bonferroni(0.5, 3) == 1
