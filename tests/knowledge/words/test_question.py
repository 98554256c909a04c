"""The words of a question, step by step."""

import time
import unicodedata

import pytest

from knowledge.words.question import MOST_FORMS, read_question
from knowledge.words.readings import Reading, Step
from tests.knowledge.words.pages import pages

ALL = frozenset(Step)
PAGES = pages(
    "Vorprüfungsdokumentation (VPD). E-Mail email. Prüfung Anmeldung 1. Semester. Wohnheim. Prüfungsordnung",
    listed=[("AStA", "Wohnheim"), ("PO", "Prüfungsordnung"), ("XY", "no such page")],
)


def test_each_step_reads_words_in_its_own_way() -> None:
    text, readings = read_question("emial VPD first Prüfungsanmeldung dorm PO", PAGES, steps=ALL)
    assert text == "email VPD first Prüfungsanmeldung dorm PO"
    found = {(reading.step, reading.word): reading.read_as for reading in readings}
    assert readings[0] == Reading(Step.SPELLING, "emial", ("email",))
    assert found[Step.ABBREVIATIONS, "VPD"] == ("Vorprüfungsdokumentation",)
    assert found[Step.ABBREVIATIONS, "PO"] == ("Prüfungsordnung",)
    assert found[Step.NUMBERS, "first"] == ("1",)
    assert found[Step.COMPOUNDS, "Prüfungsanmeldung"] == ("prüfung anmeldung",)
    assert found[Step.SYNONYMS, "dorm"] == ("wohnheim",)


def test_what_no_page_has_is_not_looked_up() -> None:
    assert read_question("XY gym zweite", PAGES, steps=ALL) == ("XY gym zweite", [])


def test_a_step_that_is_off_reads_nothing() -> None:
    asked = "emial VPD first Prüfungsanmeldung dorm"
    assert read_question(asked, PAGES, steps=frozenset()) == (asked, [])
    for step in Step:
        assert {reading.step for reading in read_question(asked, PAGES, steps={step})[1]} == {step}


def test_a_word_that_is_read_otherwise_is_no_slip_of_spelling() -> None:
    text, readings = read_question("Prüfungsanmeldunge", pages("Prüfung Anmeldung Prüfungsanmeldung"), steps=ALL)
    assert text == "Prüfungsanmeldunge"
    assert {reading.step for reading in readings} == {Step.COMPOUNDS, Step.SYNONYMS}


def test_english_pages_have_no_german_compounds() -> None:
    english = pages("work shop deadline dead line", german=False)
    assert read_question("workshop deadline", english, steps={Step.COMPOUNDS})[1] == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "?!… §$%",
        "東京大学の図書館",
        "где общежитие",
        "مكتبة",
        "👩‍🎓🎓",
        "\x00\ud800",
        "_" * 50,
        "1" * 4_000,
        "Prüfung" * 570,
    ],
)
def test_strange_input_is_left_as_it_is(text: str) -> None:
    assert read_question(text, PAGES, steps=ALL) == (text, [])


@pytest.mark.parametrize("form", ["NFC", "NFD", "NFKC", "NFKD"])
def test_any_unicode_form_is_read_without_an_error(form: str) -> None:
    asked = unicodedata.normalize(form, "Prüfungsanmeldung für Öffentliches ﬁnden ① é_x emial_2")  # type: ignore[arg-type]
    read_question(asked, PAGES, steps=ALL)


def test_a_pasted_page_costs_no_more_than_a_question() -> None:
    question = "dorm Prüfungsanmeldung vpd first emial "

    def seconds(text: str) -> float:
        began = time.thread_time()
        read_question(text, PAGES, steps=ALL)
        return time.thread_time() - began

    text = (question * 100)[:4_000]
    plain, pasted = (min(seconds(each) for _run in range(5)) for each in (question, text))
    assert pasted < 50 * max(plain, 0.001)
    _text, readings = read_question(text, PAGES, steps=ALL)
    assert len(readings) < 12
    assert all(len(reading.read_as) <= MOST_FORMS for reading in readings)
