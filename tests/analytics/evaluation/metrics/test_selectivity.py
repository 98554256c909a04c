"""What is answered and what is refused, against shares worked out by hand; and the claims of an answer."""

import pytest

from analytics.evaluation.datasets import sampled
from analytics.evaluation.metrics.answers import faithfulness_overlap, split_claims
from analytics.evaluation.metrics.selectivity import Decision, curve, declines, selectivity


def test_selectivity_is_as_by_hand() -> None:
    # 3 of 4 answerable ones answered; 1 of 2 others refused
    decisions = [Decision(True, answered, None) for answered in (True, True, True, False)]
    decisions += [Decision(False, answered, None) for answered in (True, False)]
    assert selectivity(decisions) == pytest.approx(
        {
            "answered_of_answerable": 3 / 4,
            "refused_of_unanswerable": 1 / 2,
            "accuracy": 4 / 6,
            "f1_answered": 2 * 3 / (4 + 4),  # 4 answered, 4 answerable, 3 both
            "f1_refused": 2 * 1 / (2 + 2),
        }
    )


def test_a_class_without_questions_has_no_share() -> None:
    found = selectivity([Decision(True, True, 0.5)])
    assert (found["answered_of_answerable"], found["refused_of_unanswerable"], found["f1_refused"]) == (1, None, None)
    assert set(selectivity([]).values()) == {None}
    assert curve([]) == []


def test_refusing_everything_is_no_zero_division() -> None:
    found = selectivity([Decision(True, False, 0.5), Decision(False, False, 0.5)])
    assert (found["f1_answered"], found["accuracy"]) == (0, 0.5)


def test_the_curve_goes_from_all_to_none() -> None:
    decisions = [Decision(True, True, 0.5), Decision(True, True, 0.3), Decision(False, True, 0.1)]
    found = {point["threshold"]: (point["answerable"], point["unanswerable"]) for point in curve(decisions)}
    assert len(found) == 51
    assert (found[0.0], found[0.1], found[0.12], found[0.5], found[0.52]) == ((1, 1), (1, 1), (1, 0), (0.5, 0), (0, 0))


@pytest.mark.parametrize(
    "text",
    [
        "I could not find an answer to this in the pages I know, so I would rather not guess.",
        "I'm sorry, but I don't have an answer to your question.",
        "The sources do not mention the fee for 2027.",
        "There is no information on parking. Ask the housing office.",
        "Das weiß ich leider nicht.",
        "Ich konnte dazu in den Seiten, die ich kenne, keine Antwort finden.",
        "Die Quellen enthalten zu dieser Frage keine Angaben.",
        "Ich kann diese Frage leider nicht beantworten.",
    ],
)
def test_a_refusal_is_found_by_its_words(text: str) -> None:
    assert declines(text)


@pytest.mark.parametrize(
    "text",
    [
        "The semester contribution is 318.40 euros.",
        "You cannot register after 15 July.",
        "Die Frist endet am 15. Juli. Eine Verlängerung gibt es nicht.",
        "Sie können sich nicht mehr anmelden.",
        "The fee is 318 euros. " + "It covers the ticket and the services of the student union in full. " * 3
        + "The sources do not mention refunds.",
    ],
)  # fmt: skip
def test_an_answer_is_no_refusal(text: str) -> None:
    assert not declines(text)


def test_claims_are_held_by_the_words_of_what_is_cited() -> None:
    claims = split_claims("The library opens at 8 am. Rooms cost 290 euros.")
    assert claims == ["The library opens at 8 am.", "Rooms cost 290 euros."]
    # library, opens, 8 of three; 290 and euros of four (rooms, cost, 290, euros)
    assert faithfulness_overlap(claims, ["The library opens at 8 am.", "It is 290 euros."]) == pytest.approx(
        (1 + 2 / 4) / 2
    )
    assert faithfulness_overlap(claims, []) == 0
    assert faithfulness_overlap([], ["Text."]) is None


def test_a_sample_has_every_kind_in_its_share() -> None:
    strata = ["a"] * 60 + ["b"] * 30 + ["c"] * 10
    places = sampled(strata, 20)
    assert [sum(strata[place] == kind for place in places) for kind in "abc"] == [12, 6, 2]
    assert places == sampled(strata, 20) == sorted(set(places))
    assert sampled(strata, None) == sampled(strata, 200) == list(range(100))
    assert len(sampled(["a", "b", "c"], 2)) == 2
