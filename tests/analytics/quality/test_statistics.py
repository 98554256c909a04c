"""Cohen's kappa, and the test that notices a drop of quality."""

import random

import pytest

from analytics.quality.statistics import OVER, Night, cohens_kappa, find_drop, fisher_less


def nights(chance: random.Random, *, share: float, count: int, size: int = 5) -> list[Night]:
    return [Night(sum(chance.random() < share for _ in range(size)), size) for _ in range(count)]


def test_kappa_is_the_textbook_one() -> None:
    # Cohen's example as in Fleiss, Levin and Paik: 20 and 15 agreed of 50, 5 and 10 not.
    pairs = [("yes", "yes")] * 20 + [("yes", "no")] * 5 + [("no", "yes")] * 10 + [("no", "no")] * 15
    found = cohens_kappa(pairs)
    assert found is not None
    assert found.value == pytest.approx(0.4)
    assert (found.agreed, found.items) == (0.7, 50)
    assert found.low == pytest.approx(0.151, abs=0.01)
    assert found.high == pytest.approx(0.649, abs=0.01)


def test_kappa_says_nothing_without_items_or_with_one_verdict_alone() -> None:
    assert cohens_kappa([]) is None
    assert cohens_kappa([("yes", "yes")] * 9) is None
    found = cohens_kappa([("yes", "yes"), ("no", "no")] * 9)
    assert found
    assert (found.value, found.low, found.high) == (1, 1, 1)


def test_fishers_test_is_exact() -> None:
    assert fisher_less(Night(1, 10), Night(9, 10)) == pytest.approx(0.000547, abs=1e-5)
    assert fisher_less(Night(10, 10), Night(10, 10)) == pytest.approx(1)


def test_a_drop_needs_nights_before_it() -> None:
    assert find_drop([]) is None
    assert find_drop([Night(0, 5)] * 9) is None
    assert find_drop([Night(5, 5)] * 10 + [Night(0, 5)] * 2) is not None
    assert find_drop([Night(5, 5)] * 9 + [Night(0, 5)] * 2) is None


def test_a_great_drop_is_found_within_two_nights() -> None:
    chance, found = random.Random(3), 0
    for _ in range(100):
        seen = nights(chance, share=0.9, count=60) + nights(chance, share=0.3, count=2)
        found += bool(find_drop(seen[:-1]) or find_drop(seen))
    assert found >= 88


def test_years_without_a_drop_have_at_most_two_notices_each() -> None:
    chance, notices, years = random.Random(4), 0, 4
    for _ in range(years):
        seen, is_on = nights(chance, share=0.9, count=56 + 365), False
        for night in range(57, len(seen) + 1):
            if is_on:
                is_on = find_drop(seen[max(0, night - 84) : night], level=OVER) is not None
            elif find_drop(seen[max(0, night - 84) : night]):
                is_on = True
                notices += 1
    assert notices <= 2 * years
