"""Words of a text: tokenizers, stems and stop words."""

import pytest

from core.terms import GENERAL_WORDS, STOP_WORDS, content_words, make_title, stems, topic_words


def test_stop_words_are_read_for_english_and_german_without_comments() -> None:
    assert {"the", "e.g.", "und", "z.b."} <= STOP_WORDS
    assert {"somebody", "überhaupt"} <= GENERAL_WORDS
    assert not {word for word in STOP_WORDS | GENERAL_WORDS if word != word.lower() or "#" in word}
    assert not STOP_WORDS & {"somebody", "exam", "prüfung"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("When is the M.Sc. thesis due?", ["M.Sc.", "thesis", "due"]),
        ("Wann sind die Prüfungen im Wintersemester 2026?", ["Prüfungen", "Wintersemester", "2026"]),
        ("Is e-mail ok?", ["e-mail"]),
        ("and this?", []),
    ],
)
def test_topic_words_are_kept_as_they_are_written(text: str, words: list[str]) -> None:
    assert topic_words(text) == words


def test_inflections_of_a_word_share_a_stem() -> None:
    assert content_words("Prüfungen") == content_words("prüfung") == {"prüfun"}
    assert stems("Die Fristen", letters=5) == stems("eine Frist", letters=5) == {"frist"}


def test_numbers_are_content_and_words_of_two_letters_are_not() -> None:
    assert content_words("5 ECTS im WS 26") == {"5", "ects", "26"}


def test_words_of_three_letters_are_content_if_they_say_something() -> None:
    assert content_words("Is the VPD for the gym and an MBA or PhD?") == {"vpd", "gym", "mba", "phd"}


def test_a_long_question_is_cut_between_words_for_a_title() -> None:
    title = make_title("word " * 40)
    assert len(title) <= 82
    assert title.endswith("word …")
