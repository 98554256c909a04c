"""The vectors that questions are searched with."""

import numpy as np
import pytest

from core.inference.embeddings.e5.embedder import MULTILINGUAL
from core.inference.embeddings.ensemble import JOINED, MULTILINGUAL_SCALE
from core.inference.embeddings.minilm import MiniLMEmbedder
from knowledge.retrieval.query_vectors import search_vector


def test_a_german_question_is_compared_by_the_multilingual_model_alone() -> None:
    vector, scale = search_vector(JOINED, "Wie hoch ist der Semesterbeitrag?")
    assert not vector[: MiniLMEmbedder.dimensions].any()
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)
    assert scale is MULTILINGUAL_SCALE


@pytest.mark.parametrize("question", ["How much is the semester fee?", "Mensa"])
def test_other_questions_are_compared_by_both_models(question: str) -> None:
    vector, scale = search_vector(JOINED, question)
    assert vector[: MiniLMEmbedder.dimensions].any()
    assert scale is not MULTILINGUAL_SCALE


def test_one_model_alone_compares_as_it_is() -> None:
    vector, scale = search_vector(MULTILINGUAL, "Wie hoch ist der Semesterbeitrag?")
    assert vector.any()
    assert scale is not MULTILINGUAL_SCALE
