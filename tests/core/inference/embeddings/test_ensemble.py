"""The two built-in models side by side."""

import threading

import numpy as np
import pytest

from core.inference.embeddings import EmbeddingUnavailable, get_embedder
from core.inference.embeddings.e5.embedder import MULTILINGUAL, MultilingualEmbedder
from core.inference.embeddings.ensemble import ENGLISH_SHARE, JOINED, multilingual_part
from core.inference.embeddings.minilm import MINILM, MiniLMEmbedder

TEXTS = ["When does the library close?", "Wann schließt die Bibliothek?", "library"]


def test_a_text_has_the_vectors_of_both_models() -> None:
    joined = get_embedder(JOINED).embed_questions(TEXTS)
    english = get_embedder(MINILM).embed_questions(TEXTS)
    multilingual = get_embedder(MULTILINGUAL).embed_questions(TEXTS)
    assert np.array_equal(joined[:, : english.shape[1]], ENGLISH_SHARE**0.5 * english)
    assert np.allclose([multilingual_part(row) for row in joined], multilingual, atol=1e-6)


def test_both_models_run_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    both = threading.Barrier(2, timeout=20)  # a model that waits for the other one's end breaks it
    for model in (MiniLMEmbedder, MultilingualEmbedder):
        embed = model.embed

        def meet(self: object, texts: list[str], embed: object = embed) -> object:
            both.wait()
            return embed(self, texts)  # type: ignore[operator]

        monkeypatch.setattr(model, "embed", meet)
    assert get_embedder(JOINED).embed(TEXTS).shape == (3, 768)


@pytest.mark.parametrize("model", [MiniLMEmbedder, MultilingualEmbedder])
def test_an_error_of_either_model_is_raised(model: type, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise EmbeddingUnavailable("away")

    monkeypatch.setattr(model, "embed", fail)
    with pytest.raises(EmbeddingUnavailable, match="away"):
        get_embedder(JOINED).embed(TEXTS)
