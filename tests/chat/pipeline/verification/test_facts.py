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


@pytest.mark.parametrize("said", ["am 12.06.2027.", "on 12 June 2027.", "am 12.6.2027, einem Samstag"])
def test_a_date_with_its_year_may_end_a_sentence(said):
    assert {"d:06-12", "n:2027"} in read_facts(said).figures[0].readings


def test_a_span_of_days_has_its_month_once():
    first, last = read_facts("vom 13. bis zum 24.09.2027").figures
    assert any("d:09-13" in reading for reading in first.readings)
    assert any("d:09-24" in reading for reading in last.readings)


@pytest.mark.parametrize(
    ("said", "key"),
    [
        ("from two to four", "t:960"),
        ("for five cents a page", "n:0.05"),
        ("for one day", "n:24"),
        ("in zwei Jahren", "n:4"),
    ],
)
def test_one_figure_is_said_in_several_ways(said, key):
    assert key in read_facts(said).figure_keys


@pytest.mark.parametrize("said", ["at least 150 ECTS", "mindestens 150 ECTS", "150 credits or more", "from 150 ECTS"])
def test_a_lower_bound_is_read_in_both_languages(said):
    assert read_facts(said).figures[0].bound == "least"


def test_a_figure_is_not_taken_for_a_digit_of_an_earlier_one():
    assert [figure.measure for figure in read_facts("The rules of 2019 allow 9 weeks.").figures] == ["", "week"]


@pytest.mark.parametrize("said", ["a two-week stay", "ein zweiwöchiger Aufenthalt", "a stay of two weeks"])
def test_a_number_and_what_it_counts_are_read_from_one_word(said):
    (figure,) = read_facts(said).figures
    assert (figure.text, figure.measure) == ("2", "week")


def test_a_number_that_is_written_twice_is_one():
    assert [figure.text for figure in read_facts("an extension of two (2) weeks").figures] == ["2"]


def test_two_years_are_not_twelve_months():
    assert "n:12" not in read_facts("valid for two years").figure_keys
    assert "n:12" in read_facts("valid for a year").figure_keys


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
