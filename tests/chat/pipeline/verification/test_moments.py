"""Weekdays, months, terms and periods in a sentence and on the page, English and German."""

import pytest

from chat.pipeline.verification.differences.moments import compare_moments, months, terms, weekdays
from chat.pipeline.verification.differences.types import Differences
from chat.pipeline.verification.facts import read_facts
from chat.pipeline.verification.verify import Passage, verify


@pytest.mark.parametrize(
    "said", ["Mon–Fri", "Monday to Friday", "Mo. bis Fr.", "Mo–Fr 8:00", "on working days", "werktags"]
)
def test_a_span_of_weekdays_holds_those_between(said):
    assert weekdays(said) == {0, 1, 2, 3, 4}


@pytest.mark.parametrize("said", ["Sat and Sun", "am Wochenende", "samstags und sonntags", "Sa und So"])
def test_a_weekend_is_two_days(said):
    assert weekdays(said) == {5, 6}


@pytest.mark.parametrize("said", ["by 15 July", "bis zum 15.07.", "until 2026-07-15", "im Juli"])
def test_a_month_is_one_in_every_notation(said):
    assert months(said) == {6}


def test_may_and_march_are_months_only_with_a_capital():
    assert months("You may march to the office.") == months("May I register?") == frozenset()
    assert months("from March to May") == {2, 3, 4}


def test_a_term_is_known_by_its_abbreviation():
    assert terms("im WS 2026/27") == terms("in the winter semester") == {0}


@pytest.mark.parametrize(
    ("page", "sentence"),
    [
        (
            "Consultations take place every second Tuesday in room 12.",
            "Consultations take place on Thursdays in room 12.",
        ),
        ("Consultations take place every second Tuesday.", "Consultations take place every Tuesday."),
        ("The list opens in July.", "The list opens in August."),
        ("Start: winter semester", "You can start in the summer semester."),
        ("The locker costs 15 euros a year.", "Das Schließfach kostet 15 Euro im Monat."),
        ("See a doctor on the day of the examination.", "See a doctor on the day after the examination."),
        ("The course begins in mid-May.", "The course begins at the end of May."),
    ],
)
def test_another_moment_than_the_pages_is_a_doubt(page, sentence):
    found = Differences()
    compare_moments(found, read_facts(sentence), read_facts(page))
    assert any(found.features.values())


@pytest.mark.parametrize(
    ("page", "sentence"),
    [
        ("Open Mo–Fr 8:00–16:00.", "The desk is open on Wednesdays."),
        ("Open Mon–Fri.", "The desk is closed at the weekend; no one is there."),
        ("Apply by 15.07.", "The deadline is in July."),
        ("The locker costs 15 euros per year.", "Das Schließfach kostet jährlich 15 Euro."),
    ],
)
def test_the_same_moment_in_other_words_is_none(page, sentence):
    found = Differences()
    compare_moments(found, read_facts(sentence), read_facts(page))
    assert not any(found.features.values())


@pytest.mark.parametrize(
    ("page", "sentence"),
    [
        ("Consultations take place every Tuesday in room 12.", "Consultations take place every Friday in room 12."),
        ("The locker costs 15 euros a year.", "The locker costs 15 euros a month."),
        ("The list opens in July.", "The list opens in August."),
    ],
)
def test_a_sentence_with_another_weekday_month_or_period_is_never_shown(page, sentence):
    verdict = verify(sentence, [Passage(page)])
    assert not verdict.is_supported
    assert verdict.score == 0
    assert "date" in {reason.kind for reason in verdict.reasons}
