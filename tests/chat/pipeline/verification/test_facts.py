"""The facts of a text, English and German."""

import pytest

from chat.pipeline.verification.facts import read_facts
from knowledge.words.numerals import spell_out


@pytest.mark.parametrize(
    ("said", "digits"),
    [
        ("three hundred and eighteen euros", "318 euros"),
        ("twenty-five days", "25 days"),
        ("zweihundertfünfzig Euro", "250 Euro"),
        ("am fünfzehnten Juni", "am 15. Juni"),
        ("the fifteenth of June", "the 15th of June"),
        ("zwei und drei", "2 und 3"),
        ("one of them", "one of them"),
    ],
)
def test_numbers_in_words_are_digits(said, digits):
    assert spell_out(said) == digits


@pytest.mark.parametrize("said", ["by 15 June", "bis zum 15. Juni", "until June 15th", "spätestens am 15.06."])
def test_a_date_is_one_in_every_notation_and_an_upper_bound_stays_one(said):
    (figure,) = read_facts(said).figures
    assert any("d:06-15" in reading for reading in figure.readings)
    assert figure.bound == "most"


@pytest.mark.parametrize("said", ["at least 150 ECTS", "mindestens 150 ECTS", "150 credits or more", "from 150 ECTS"])
def test_a_lower_bound_is_read_in_both_languages(said):
    assert read_facts(said).figures[0].bound == "least"


def test_a_figure_is_not_taken_for_a_digit_of_an_earlier_one():
    assert [figure.measure for figure in read_facts("The rules of 2019 allow 9 weeks.").figures] == ["", "week"]


def test_two_weeks_are_fourteen_days():
    assert "n:14" in read_facts("within two weeks").figure_keys


@pytest.mark.parametrize(
    ("said", "modality"),
    [
        ("You must register.", "obliged"),
        ("Sie müssen sich anmelden.", "obliged"),
        ("You may withdraw.", "permitted"),
        ("Sie dürfen nicht teilnehmen.", "forbidden"),
        ("Eine Anmeldung ist nicht erforderlich.", "exempt"),
        ("You need not register.", "exempt"),
        ("Sie sollten früh buchen.", "advised"),
    ],
)
def test_what_is_obliged_permitted_forbidden_exempt_or_advised(said, modality):
    assert read_facts(said).modality == {modality}


def test_the_first_word_of_an_answer_denies_nothing_by_itself():
    facts = read_facts("No, the deadline is not extended.")
    assert (facts.answer, facts.negations) == ("no", 1)


@pytest.mark.parametrize("said", ["no later than Friday", "nicht älter als drei Monate", "not only students"])
def test_words_of_a_bound_deny_nothing(said):
    assert read_facts(said).negations == 0


def test_a_denied_contrary_is_a_statement():
    assert read_facts("Late applications are not rejected.").poles["accept"] == {1}


def test_exceptions_and_conditions_are_read_with_their_words():
    assert read_facts("Es wird nicht erstattet, außer bei Krankheit.").exceptions
    assert read_facts("You may join only if you hold a pass.").conditions
