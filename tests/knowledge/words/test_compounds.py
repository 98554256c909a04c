"""German compounds: split by the words of the pages, and joined to them."""

import pytest

from knowledge.words.compounds import join_compounds, split_compound
from tests.knowledge.words.pages import vocabulary

WORDS = vocabulary(
    "Prüfung Anmeldung Studierende Wohnheim Student Ausweis Bewerbung Fristen Schule Praktikum Kinder Betreuung Sport"
    " Kurse Buchung Ausweise über nehmen Hund Ergebnis Liste"
)


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("Prüfungsanmeldung", ("prüfung", "anmeldung")),
        ("Prüfungsanmeldungen", ("prüfung", "anmeldung")),
        ("Studierendenwohnheim", ("studierende", "wohnheim")),
        ("Studentenausweis", ("student", "ausweise")),
        ("Kinderbetreuung", ("kinder", "betreuung")),
        ("Schulpraktikum", ("schule", "praktikum")),
        ("Ergebnisliste", ("ergebnis", "liste")),
        ("Bewerbungsfrist", ("bewerbung", "fristen")),
        ("Sportkursbuchung", ("sport", "kurse", "buchung")),
        ("übernehmen", ()),
        ("Prüfung", ()),
        ("Prüfungsunterlage", ()),
        ("", ()),
        ("?!", ()),
        ("東京大学東京大学東京大学", ()),
        ("x" * 4_000, ()),
    ],
)
def test_a_compound_is_split_where_the_pages_have_all_parts(word: str, parts: tuple[str, ...]) -> None:
    assert split_compound(word, WORDS) == parts


def test_of_several_ways_the_one_with_the_more_frequent_parts_is_taken() -> None:
    words = vocabulary("Staub Ecken Staubecken Stau Stau Stau Becken Becken Becken")
    assert split_compound("staubecken", words) == ("stau", "becken")


def test_a_word_of_many_short_words_costs_little() -> None:
    assert split_compound("prüfung" * 500, WORDS) == ()


@pytest.mark.parametrize(
    ("asked", "joined"),
    [
        ("Anmeldung zur Prüfung", {"prüfungsanmeldung"}),
        ("Ausweis Student", {"studentenausweis"}),
        ("Anmeldung der vielen anderen späteren Prüfung", set()),
        ("Anmeldung", set()),
        ("", set()),
    ],
)
def test_words_near_each_other_are_read_as_the_compound_of_the_pages(asked: str, joined: set[str]) -> None:
    words = vocabulary("Prüfungsanmeldung Studentenausweis")
    assert {compound for *_, compound in join_compounds(asked.split(), words)} == joined
