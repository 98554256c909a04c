"""Weighted reciprocal rank fusion."""

import math

from hypothesis import given
from hypothesis import strategies as st

from knowledge.retrieval.fusion import weighted_rrf

runs = st.lists(
    st.lists(st.tuples(st.integers(1, 12), st.floats(0, 3)), max_size=8, unique_by=lambda pair: pair[0]), max_size=5
)


def test_a_score_is_the_sum_of_weight_over_sixty_plus_rank() -> None:
    scores = weighted_rrf([[(1, 1.0), (2, 1.0)], [(2, 2.0), (3, 2.0)]])
    assert list(scores) == [2, 1, 3] or list(scores) == [2, 3, 1]
    assert math.isclose(scores[1], 1 / 61)
    assert math.isclose(scores[2], 1 / 62 + 2 / 61)
    assert math.isclose(scores[3], 2 / 62)
    assert list(scores) == [2, 3, 1]


def test_the_papers_merge_puts_a_faq_of_twice_the_weight_first() -> None:
    lexical, faq = [(number, 1.0) for number in (7, 8, 9)], [(9, 2.0)]
    assert list(weighted_rrf([lexical, faq])) == [9, 7, 8]
    assert list(weighted_rrf([lexical, [(9, 0.0)]])) == [7, 8, 9]


def test_a_large_constant_makes_ranks_count_less() -> None:
    assert weighted_rrf([[(1, 1.0)]], c=0) == {1: 1.0}
    assert weighted_rrf([[(1, 1.0)]], c=99) == {1: 0.01}


def test_ties_are_broken_by_id() -> None:
    assert list(weighted_rrf([[(9, 1.0)], [(2, 1.0)], [(5, 1.0)]])) == [2, 5, 9]


def test_nothing_fuses_to_nothing() -> None:
    assert weighted_rrf([]) == weighted_rrf([[], []]) == {}


@given(runs, st.randoms())
def test_the_order_of_the_runs_does_not_matter(given_runs: list[list[tuple[int, float]]], random: object) -> None:
    shuffled = list(given_runs)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    one, other = weighted_rrf(given_runs), weighted_rrf(shuffled)
    assert list(one) == list(other)
    assert all(math.isclose(one[item], other[item]) for item in one)


@given(runs)
def test_every_item_is_ranked_once_by_its_score(given_runs: list[list[tuple[int, float]]]) -> None:
    scores = weighted_rrf(given_runs)
    assert set(scores) == {item for run in given_runs for item, _weight in run}
    rounded = [round(score, 12) for score in scores.values()]
    assert rounded == sorted(rounded, reverse=True)


@given(runs, st.integers(1, 12))
def test_another_vote_never_harms(given_runs: list[list[tuple[int, float]]], item: int) -> None:
    before, after = weighted_rrf(given_runs), weighted_rrf([*given_runs, [(item, 1.0)]])
    assert after[item] > before.get(item, 0)
