"""Numbers in words and figures."""

import pytest

from knowledge.words.numbers import read_number


@pytest.mark.parametrize(
    ("word", "other"),
    [
        ("first", "1st"),
        ("first", "erste"),
        ("1st", "ersten"),
        ("1", "erstes"),
        ("ersten", "1"),
        ("Drei", "3"),
        ("3", "three"),
        ("zwölf", "12"),
        ("12", "twelve"),
        ("zwanzigsten", "20th"),
        ("20th", "twentieth"),
        ("2nd", "second"),
        ("11th", "elfte"),
    ],
)
def test_a_number_is_read_in_words_and_in_figures(word: str, other: str) -> None:
    assert other in read_number(word)


@pytest.mark.parametrize("word", ["one", "ein", "a", "", "?", "1000000", "９", "٣", "third-party", "x" * 4_000])
def test_what_is_no_number_is_read_as_none(word: str) -> None:
    assert read_number(word) == ()


def test_a_count_is_no_place_in_an_order() -> None:
    assert "third" not in read_number("three")
    assert "acht" not in read_number("achte")
    assert "achten" not in read_number("acht")
