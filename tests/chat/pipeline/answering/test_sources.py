"""The passages that an answer is made from: of those that were read the ones with the best sentences."""

from dataclasses import replace

import pytest

from chat.models import Message
from chat.pipeline.question import Context, Question, Turn
from chat.pipeline.retrieval.profiles import PROFILES
from chat.pipeline.sentences.sources import choose_sources
from core.inference.embeddings import EmbeddingUnavailable
from knowledge.retrieval.search import Retrieval
from tests.chat.candidates import candidate

QUESTION = "How much is the fine for an overdue book?"
READ = [
    candidate(1, title="Library", text="The library has 300 seats on four floors."),
    candidate(2, title="Sports", text="The gym is open every day."),
    candidate(3, title="Canteen", text="The canteen cooks a vegan dish every day."),
    candidate(4, title="Library", heading="Fines", text="The fine for an overdue book is €2.00 a day."),
]


def context(*, sources: int = 2) -> Context:
    ask = Question(QUESTION, profile=replace(PROFILES["default"], sources=sources))
    found = Retrieval(text="", query=None, hits=[], runs={}, timings_ms={})  # type: ignore[arg-type]
    return Context(ask, Turn(Message.Route.QUESTION, QUESTION), retrieval=found, candidates=list(READ))


def test_a_passage_far_down_with_the_sentence_that_answers_becomes_a_source() -> None:
    chosen = context()
    choose_sources(chosen)
    assert [each.heading for each in chosen.candidates] == ["Fines", ""]


def test_sources_are_numbered_from_one_and_the_first_of_the_ranking_stays() -> None:
    chosen = context()
    choose_sources(chosen)
    assert [(each.number, each.passage_id) for each in chosen.candidates] == [(1, 104), (2, 101)]


def test_as_few_passages_as_there_are_sources_keep_their_order() -> None:
    chosen = context(sources=4)
    choose_sources(chosen)
    assert chosen.candidates == READ


def test_without_the_embedding_model_the_first_of_the_ranking_are_the_sources(monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_: object) -> None:
        raise EmbeddingUnavailable("away")

    monkeypatch.setattr("chat.pipeline.sentences.unit_vectors.multilingual_vector", away)
    chosen = context()
    choose_sources(chosen)
    assert [each.passage_id for each in chosen.candidates] == [101, 102]


def test_published_profiles_read_no_more_than_their_sources() -> None:
    assert PROFILES["marcel"].passages == PROFILES["marcel"].sources
    assert PROFILES["default"].passages > PROFILES["default"].sources
