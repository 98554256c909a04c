"""What is better or worse, and what is looked at first."""

import pytest

from analytics.shadow.verdicts import Served, Truth, Verdict, difference

RIGHT, OTHER, THIRD = 1, 2, 3
ANSWERED = Truth(frozenset({RIGHT}))


def served(*documents: int, abstains: bool = False, answer: str = "") -> Served:
    return Served(documents, abstains, answer)


@pytest.mark.parametrize(
    ("before", "after", "truth", "verdict"),
    [
        (served(OTHER, RIGHT), served(RIGHT, OTHER), ANSWERED, "better"),
        (served(RIGHT, OTHER), served(OTHER, RIGHT), ANSWERED, "worse"),
        (served(RIGHT, OTHER), served(RIGHT, THIRD), ANSWERED, "same"),
        (served(RIGHT), served(OTHER), ANSWERED, "worse"),
        (served(RIGHT), served(RIGHT, abstains=True), ANSWERED, "worse"),
        (served(OTHER, abstains=True), served(OTHER, RIGHT), ANSWERED, "better"),
        # To be misled is worse than to be told nothing.
        (served(OTHER, abstains=True), served(OTHER), ANSWERED, "worse"),
        (served(RIGHT, THIRD), served(RIGHT, OTHER), Truth(frozenset({RIGHT, OTHER})), "better"),
        (served(OTHER), served(OTHER, abstains=True), Truth(answerable=False), "better"),
        (served(OTHER, abstains=True), served(OTHER), Truth(answerable=False), "worse"),
        (served(OTHER), served(THIRD), Truth(answerable=False), "same"),
        (served(OTHER, abstains=True), served(OTHER), Truth(answerable=True), "better"),
        (served(RIGHT), served(OTHER), Truth(), "unknown"),
    ],
)
def test_better_and_worse(before: Served, after: Served, truth: Truth, verdict: str) -> None:
    assert difference(before, after, truth).verdict == verdict


def test_the_worst_comes_first() -> None:
    changes = [
        difference(served(RIGHT), served(OTHER), ANSWERED),
        difference(served(OTHER), served(OTHER, abstains=True), Truth()),
        difference(served(OTHER, abstains=True), served(OTHER), Truth()),
        difference(served(OTHER), served(THIRD), Truth()),
        difference(served(OTHER, answer="a"), served(OTHER, answer="b"), Truth()),
        difference(served(OTHER), served(RIGHT), ANSWERED),
        difference(served(OTHER), served(OTHER), Truth()),
    ]
    assert [change.severity for change in changes] == [6, 5, 4, 3, 2, 1, 0]
    assert changes[0].verdict is Verdict.WORSE
