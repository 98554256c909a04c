"""Slips of spelling: a word that stands on no page is read as the closest one that does."""

import pytest

from knowledge.words.dictionary import is_common_word
from knowledge.words.spelling import MOST, correct_spelling
from tests.knowledge.words.pages import vocabulary

WORDS = vocabulary("Library opening hours on Saturday, deadline, Bibliothek, Mensa, projects")


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("libary opning hours saterday", "library opening hours saturday"),
        ("Libary", "Library"),
        ("When is the daedline?", "When is the deadline?"),
        ("Bibliotek", "Bibliothek"),
        ("library", "library"),
        ("lib", "lib"),
        ("A projector", "A projector"),
        ("LIBARY and iLibary stay", "LIBARY and iLibary stay"),
        ("", ""),
    ],
)
def test_a_slip_is_read_as_the_closest_word_of_the_pages(text: str, read: str) -> None:
    assert correct_spelling(text, WORDS, is_known=lambda _word: False) == read


def test_a_common_word_that_no_page_has_is_no_slip() -> None:
    words = vocabulary("rectors")
    assert correct_spelling("Who is the rector?", words, is_known=is_common_word) == "Who is the rector?"
    assert correct_spelling("Who is the rector?", words, is_known=lambda _word: False) == "Who is the rectors?"


def test_of_two_words_as_close_the_more_frequent_one_is_meant() -> None:
    assert correct_spelling("moduls", vocabulary("module module modules"), is_known=lambda _word: False) == "module"


def test_the_words_of_several_collections_count_together() -> None:
    words = vocabulary("modular modular", "module", "module module")
    assert correct_spelling("modulr", words, is_known=lambda _word: False) == "module"


def test_a_pasted_page_is_looked_up_in_part() -> None:
    asked = []

    def is_known(word: str) -> bool:
        asked.append(word)
        return True

    correct_spelling("unheardof " * 1000, vocabulary(), is_known=is_known)
    assert len(asked) == MOST
