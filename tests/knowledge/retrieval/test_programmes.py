"""Handbooks of several programmes: the one that a question names comes first."""

import pytest

from knowledge.models import Document
from knowledge.retrieval.reordering import prefer_programmes
from tests.factories import DocumentFactory

pytestmark = pytest.mark.django_db

HANDBOOKS = {
    "economics": "Module handbook: B.Sc. Economics, winter term 2024/25",
    "business": "Module handbook: Business Administration, Bachelor of Science, winter term 2024/25",
    "master": "Module handbook: Master's programme in Business Administration, winter term 2023/24",
    "library": "Library: Business Administration",
}


def ranked(question: str, scores: dict[str, float]) -> list[str]:
    """Return the names of documents with a passage each, in the order after `scores`."""
    documents: dict[str, Document] = {name: DocumentFactory(title=HANDBOOKS[name]) for name in scores}
    names = {document.pk: name for name, document in documents.items()}
    by_score = {documents[name].pk: score for name, score in scores.items()}
    order = sorted(by_score, key=lambda passage: -by_score[passage])
    return [names[passage] for passage in prefer_programmes(order, {pk: pk for pk in names}, by_score, question)]


CLOSE = {"economics": 0.9, "master": 0.8, "library": 0.7, "business": 0.6}


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("How long is the thesis in the Bachelor Business Administration?", "business"),
        ("Wie lang ist die Bachelorarbeit im Studiengang BWL?", "business"),
        ("How long is the thesis in the M.Sc. Business Administration?", "master"),
        ("How much economics is there in the degree programme Bachelor Business Administration?", "business"),
    ],
)
def test_the_programme_that_is_named_with_its_degree_comes_first(question: str, first: str) -> None:
    order = ranked(question, CLOSE)
    assert order.index(first) < min(order.index(name) for name in {"economics", "business", "master"} - {first})


@pytest.mark.parametrize(
    "question", ["How long is the thesis?", "How long is business administration?", "What is a degree?"]
)
def test_a_question_that_names_no_programme_changes_nothing(question: str) -> None:
    assert ranked(question, CLOSE) == ["economics", "master", "library", "business"]


def test_what_the_named_programme_hardly_says_is_not_hidden_behind_it() -> None:
    order = ranked("Which room has the Bachelor Business Administration?", {"economics": 0.9, "business": 0.1})
    assert order == ["economics", "business"]


def test_only_titles_of_one_kind_are_compared() -> None:
    order = ranked("Is there a library for the Bachelor Economics?", {"library": 0.9, "economics": 0.6})
    assert order == ["library", "economics"]
