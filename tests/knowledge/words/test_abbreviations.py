"""Abbreviations: found where pages explain them, and read either way."""

import pytest

from knowledge.words.abbreviations import Abbreviations, find_definitions, read_abbreviations


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("the Test of English as a Foreign Language (TOEFL)", [("TOEFL", "Test of English as a Foreign Language")]),
        ("Die Vorprüfungsdokumentation (VPD) gilt.", [("VPD", "Vorprüfungsdokumentation")]),
        ("The VPD (*Vorprüfungsdokumentation*, preliminary review) is", [("VPD", "Vorprüfungsdokumentation")]),
        ("We teach Natural Language Processing (NLP).", [("NLP", "Natural Language Processing")]),
        ("Student card (LindeCard)", []),
        ("preliminary review (VPD)", []),
        ("the dean. Further Details (FAQ)", []),
        ("Master of Education (Winter)", []),
        ("[A](https://uni.example/A)", []),
        ("(VPD)", []),
        ("((((", []),
        ("", []),
        ("…!?()()", []),
        ("Ἑλλάς (ΕΛ) 東京大学 (東大)", []),
        ("A " * 2_000 + "(AB)", []),
    ],
)
def test_only_a_long_form_with_the_letters_in_their_order_explains_a_short_one(
    text: str, found: list[tuple[str, str]]
) -> None:
    assert find_definitions(text) == found


@pytest.fixture
def known() -> Abbreviations:
    vpd, it = ("VPD", "Vorprüfungsdokumentation"), ("IT", "Information Technology")
    return Abbreviations({vpd: 2, it: 1, ("VPD", "vehicle parking document"): 1})


def read(text: str, *known: Abbreviations) -> dict[str, tuple[str, ...]]:
    words = text.split()
    return {" ".join(words[first:end]): forms for first, end, forms in read_abbreviations(words, known)}


def test_either_form_is_read_as_the_other_the_most_frequent_first(known: Abbreviations) -> None:
    assert read("my vpd", known) == {"vpd": ("Vorprüfungsdokumentation", "vehicle parking document")}
    assert read("meine vorprüfungsdokumentation", known) == {"vorprüfungsdokumentation": ("VPD",)}
    assert read("of information technology", known) == {"information technology": ("IT",)}


def test_two_letters_are_an_abbreviation_only_in_capitals(known: Abbreviations) -> None:
    assert read("is it IT", known) == {"IT": ("Information Technology",)}
