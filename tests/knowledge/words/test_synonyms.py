"""Synonyms of university life."""

import pytest

from knowledge.words.synonyms import LIST, read_synonyms


def read(text: str) -> dict[str, tuple[str, ...]]:
    words = text.split()
    return {" ".join(words[first:end]): forms for first, end, forms in read_synonyms(words)}


@pytest.mark.parametrize(
    ("asked", "other"),
    [
        ("dorm", "wohnheim"),
        ("Dorms", "residence hall"),
        ("Studierendenwohnheim", "dormitory"),
        ("Studienbeitrag", "semester fee"),
        ("semester fees", "semesterbeitrag"),
        ("kindergarten", "kita"),
        ("day care", "kindertagesstätte"),
        ("gym", "fitnessstudio"),
        ("PhD", "promotion"),
        ("Ph D", "doctorate"),
    ],
)
def test_a_word_is_read_as_others_for_the_same_thing_in_both_languages(asked: str, other: str) -> None:
    assert other in read(asked)[asked]


def test_a_word_within_a_phrase_is_not_read_alone() -> None:
    assert list(read("my semester fee in cash")) == ["semester fee", "cash"]


@pytest.mark.parametrize("text", ["", "?!", "東京 大学", "zzz", "x" * 4_000, "e", "s"])
def test_words_without_a_group_are_left_alone(text: str) -> None:
    assert read(text) == {}


def test_every_group_has_several_forms_and_each_form_once() -> None:
    groups = [line.split() for line in LIST.read_text("utf-8").splitlines() if line and not line.startswith("#")]
    assert len(groups) >= 150
    assert all(len(set(group)) == len(group) > 1 for group in groups)
    assert all(form == form.lower() for group in groups for form in group)
