"""An ordinal of a question finds the row that has it as a figure, beside what is counted."""

import pytest

from chat.pipeline.sentences.ordinals import read_ordinals
from chat.pipeline.sentences.ranking import rank_sentences
from knowledge.retrieval.query_vectors import multilingual_vectors
from tests.chat.candidates import candidate

TAUGHT = ("Analysis", "Logic", "Algebra", "Statistics", "Networks", "Compilers", "Databases", "Robotics")


def plan(number: str, column: str) -> str:
    rows = [f"| {number.format(place)} | {subject} |" for place, subject in enumerate(TAUGHT, start=1)]
    return "\n".join([f"| {column} | Subject |", "|---|---|", *reversed(rows)])


def is_in(question: str, text: str) -> bool:
    return any(ordinal.is_in(text) for ordinal in read_ordinals(question))


@pytest.mark.parametrize(
    ("question", "column", "number", "subject"),
    [
        ("What is taught in the first semester?", "Semester", "{}", "Analysis"),
        ("What is taught in the third semester?", "Semester", "{}", "Algebra"),
        ("What is taught in the second semester?", "When", "{}. Semester", "Logic"),
        ("What do I learn in the 4th semester?", "Semester", "{}", "Statistics"),
        ("Was wird im ersten Semester gelehrt?", "Semester", "{}", "Analysis"),
        ("Was wird im zweiten Semester gelehrt?", "Fachsemester", "{}", "Logic"),
        ("Was lerne ich im 3. Semester?", "Semester", "{}", "Algebra"),
    ],
)
def test_an_ordinal_finds_the_row_with_the_figure(question: str, column: str, number: str, subject: str) -> None:
    page = candidate(title="Plan of studies", text=plan(number, column))
    for embed in (None, multilingual_vectors):
        best, *_others = rank_sentences(question, [page], embed=embed, curated={})
        assert best.quote.row.endswith(f"| {subject} |")


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("the first semester", "Semester: 1; Subject: Analysis"),
        ("the first semester", "1st semester: Analysis"),
        ("im ersten Semester", "1. Semester: Analysis"),
        ("my second attempt", "Attempt 2 costs 30 euros"),
        ("the 2nd attempt", "Attempt: 2"),
        ("the 2nd attempt", "The second attempt is free."),
        ("im 2. Semester", "Im zweiten Semester folgt Algebra."),
    ],
)
def test_a_figure_is_the_ordinal_where_it_stands_beside_what_is_counted(question: str, text: str) -> None:
    assert is_in(question, text)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("the first semester", "Semester: 11; Subject: Analysis"),
        ("the first semester", "Semester: 2; Credits: 1"),
        ("the first semester", "From 1 October on"),
        ("three semesters", "Semester: 3"),
        ("who came first?", "Place: 1"),
    ],
)
def test_another_figure_is_not(question: str, text: str) -> None:
    assert not is_in(question, text)
