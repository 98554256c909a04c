"""A sentence is shown as written only if the passage that it cites supports it."""

import time
from functools import partial

import pytest

from chat.pipeline.verification.classifier import Strictness
from chat.pipeline.verification.verify import Passage, choose_passage, verify

FEES = Passage(
    "The semester contribution is €318.40. It must be paid by 15 August. Payment by instalments is not possible. "
    "The fee is refunded if you de-register before the semester begins. "
    "You may withdraw from an examination up to three days before it.",
    "Fees",
)
DEADLINES = Passage(
    "| Studiengang | Gruppe EU | Gruppe Nicht-EU |\n|---|---|---|\n"
    "| M.Sc. Data Science | 15. Mai | 31. März |\n| M.A. European Studies | 15. Juli | 31. Mai |\n",
    "Bewerbungsfristen",
)


@pytest.mark.parametrize(
    "sentence",
    [
        "The semester contribution is €318.40.",
        "Payment by instalments is not possible.",
        "Here is what the page says:",
        "Ich hoffe, das hilft Ihnen weiter.",
    ],
)
def test_what_the_page_says_passes(sentence):
    assert verify(sentence, [FEES]).is_supported


@pytest.mark.parametrize(
    ("sentence", "kind"),
    [
        ("The semester contribution is €381.40.", "figure"),
        ("It must be paid by 25 August.", "date"),
        ("Payment by instalments is possible.", "polarity"),
        ("You must withdraw from an examination up to three days before it.", "modality"),
        ("You may withdraw from an examination five days before it.", "figure"),
        ("Pay to finance@bank.example by 15 August.", "address"),
    ],
)
def test_what_the_page_does_not_say_is_doubted_by_kind(sentence, kind):
    verdict = verify(sentence, [FEES])
    assert not verdict.is_supported
    assert kind in {reason.kind for reason in verdict.reasons}


def test_an_amount_in_words_is_the_amount_in_digits():
    said = "The semester contribution is three hundred and eighteen euros and forty cents [1]."
    assert verify(said, [FEES], strictness=Strictness.BALANCED).is_supported
    wrong = said.replace("eighteen", "eighty")
    assert not verify(wrong, [FEES], strictness=Strictness.LENIENT).is_supported


def test_the_pages_own_words_come_with_a_doubt():
    verdict = verify("Payment by instalments is possible.", [FEES])
    assert verdict.unit == "Payment by instalments is not possible."


def test_a_figure_of_another_column_is_about_another_group():
    assert verify("Für M.Sc. Data Science gilt für die Gruppe EU der 15. Mai.", [DEADLINES]).score > 0
    verdict = verify("Für M.Sc. Data Science gilt für die Gruppe Nicht-EU der 15. Mai.", [DEADLINES])
    assert not verdict.is_supported
    assert "subject" in {reason.kind for reason in verdict.reasons}


def test_a_decision_on_a_person_never_passes():
    page = Passage("Applicants with an Abitur are admitted.", "Admission")
    assert verify("You are admitted.", [page]).reasons[0].kind == "decision"


def test_a_sentence_without_a_citation_gets_the_passage_that_supports_it():
    assert choose_passage("The contribution is €318.40.", [DEADLINES, FEES]) == 1
    assert choose_passage("Zebras sleep.", [DEADLINES]) is None


@pytest.mark.parametrize(
    "text", ["", " ", "|", "\x00", "[1]", "(" * 500, "## ", "| a |\n|---|\n", "İ" * 40, "12." * 200]
)
def test_odd_text_is_judged_without_failing(text):
    verify(text, [FEES])
    verify("The fee is €5.", [Passage(text)])


@pytest.mark.parametrize("piece", ["not ", "1 ", "zwei und ", "nicht, ", "| a ", "bis zum ", "ohne (", "a.b@c "])
@pytest.mark.slow
def test_the_time_is_in_proportion_to_the_length(piece):
    def seconds(count: int) -> float:
        page = Passage(f"{piece * count}{count}")
        best = 9.0
        for turn in range(2):
            began = time.perf_counter()
            verify(f"The fee is {turn} euros.", [Passage(page.text + str(turn))])
            best = min(best, time.perf_counter() - began)
        return best

    assert seconds(1000) < 40 * max(seconds(100), 0.001)


def test_one_row_of_a_table_does_not_tell_which_is_the_cheapest() -> None:
    table = (
        "| Hall | Type | Rent per month |\n|---|---|---|\n| Lindenhof | room | €295 |\n| Seeblick | apartment | €340 |"
    )
    said = partial(verify, passages=[Passage(table, "Halls of residence")], strictness=Strictness.LENIENT)
    assert said("In Lindenhof the rent per month of a room is €295.").is_supported
    assert not said("In Lindenhof a room has the lowest rent per month: €295.").is_supported
    assert not said("The hall Lindenhof has the highest rent per month, €295.").is_supported
