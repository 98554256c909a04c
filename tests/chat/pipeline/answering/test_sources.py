"""The passages that an answer is made from: of those that were read the ones with the best sentences."""

from dataclasses import replace

import pytest
from pytest_django import Settings

from chat.models import Message
from chat.pipeline.question import Context, Question, Turn
from chat.pipeline.retrieval.profiles import PROFILES
from chat.pipeline.sentences.quotable import Quotable
from chat.pipeline.sentences.ranking import RankedSentence
from chat.pipeline.sentences.sources import choose_sources, weigh_sentences
from core.inference.embeddings import EmbeddingUnavailable
from core.inference.embeddings.e5.embedder import MULTILINGUAL
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


def test_the_multilingual_model_alone_compares_sentences_too(settings: Settings) -> None:
    settings.EMBEDDING_MODEL = MULTILINGUAL
    chosen = context()
    choose_sources(chosen)
    assert chosen.candidates[0].heading == "Fines"


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
    chosen.evidence = 0.5
    choose_sources(chosen)
    assert [each.passage_id for each in chosen.candidates] == [101, 102]
    assert chosen.evidence == 0.5


def weighed(evidence: float, *closeness: float, asked_before: float = 0.0) -> float:
    quote = Quotable("A sentence.", "A sentence.")
    ranked = [RankedSentence(READ[0], quote, 0, place, 1.0, close) for place, close in enumerate(closeness)]
    return weigh_sentences(evidence, ranked, asked_before=asked_before)


def test_close_sentences_raise_the_evidence_and_distant_ones_lower_it() -> None:
    assert weighed(0.5, 0.79, 0.79, 0.79, 0.79) < 0.5 < weighed(0.5, 0.88, 0.88, 0.88, 0.88)
    assert weighed(0.5, 0.88, 0.88, 0.88, 0.88, 0.1) == weighed(0.5, 0.88, 0.88, 0.88, 0.88)
    assert (weighed(0.02, 0.5), weighed(0.98, 1.0), weighed(0.5)) == (0.0, 1.0, 0.5)


def test_beside_a_close_curated_question_sentences_tell_little() -> None:
    assert weighed(0.5, 0.9) > weighed(0.5, 0.9, asked_before=0.5) > weighed(0.5, 0.9, asked_before=1.0) == 0.5


def test_a_question_that_the_pages_answer_has_more_evidence_than_one_that_they_do_not() -> None:
    evidence = []
    for question in (QUESTION, "When is the ship to the moon built in the harbour?"):
        chosen = context()
        chosen.turn, chosen.evidence = Turn(Message.Route.QUESTION, question), 0.5
        choose_sources(chosen)
        evidence.append(chosen.evidence)
    assert evidence[0] > evidence[1]


def test_published_profiles_read_no_more_than_their_sources() -> None:
    assert PROFILES["marcel"].passages == PROFILES["marcel"].sources
    assert PROFILES["default"].passages > PROFILES["default"].sources
