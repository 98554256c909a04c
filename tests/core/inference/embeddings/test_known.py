"""Vectors that are known are not computed again, unless another model would make others."""

from pathlib import Path

import numpy as np
import pytest

from core.inference.embeddings import get_embedder
from core.inference.embeddings.known import passage_key, question_key, with_known, write_vectors

TEXTS = ["The library opens at eight.", "Rooms are booked in the portal."]


class Recorder:
    """The tests' model; `seen` are the texts that it had to embed."""

    def __init__(self) -> None:
        self._model = get_embedder()
        self.model, self.recipe, self.dimensions = self._model.model, self._model.recipe, self._model.dimensions
        self.scale, self.count_tokens = self._model.scale, self._model.count_tokens
        self.seen: list[str] = []

    def embed(self, texts: list[str]) -> np.ndarray:
        self.seen += texts
        return self._model.embed(texts)

    def embed_questions(self, texts: list[str]) -> np.ndarray:
        self.seen += texts
        return self._model.embed_questions(texts)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    model = get_embedder()
    vectors = {passage_key(TEXTS[0]): model.embed(TEXTS[:1])[0], question_key(TEXTS[1]): np.ones(model.dimensions)}
    write_vectors(tmp_path / "vectors.npz", model.recipe, vectors)
    return tmp_path / "vectors.npz"


def test_only_what_is_missing_is_embedded_and_the_order_stays(file: Path) -> None:
    model = Recorder()
    found = with_known(model, file).embed(TEXTS[::-1])
    assert model.seen == [TEXTS[1]]
    assert np.allclose(found, get_embedder().embed(TEXTS[::-1]), atol=1e-3)


def test_a_question_has_another_vector_than_a_passage_of_the_same_words(file: Path) -> None:
    model = Recorder()
    found = with_known(model, file).embed_questions(TEXTS)
    assert model.seen == [TEXTS[0]]
    assert np.array_equal(found[1], np.ones(model.dimensions))


def test_vectors_of_another_recipe_are_not_used(file: Path) -> None:
    model = Recorder()
    model.recipe = "another"
    with_known(model, file).embed(TEXTS)
    assert model.seen == TEXTS


def test_equal_vectors_make_an_equal_file(file: Path, tmp_path: Path) -> None:
    with np.load(file) as loaded:
        vectors = dict(zip(loaded["keys"].tolist()[::-1], loaded["vectors"][::-1], strict=True))
        write_vectors(tmp_path / "again.npz", str(loaded["recipe"]), vectors)
    assert (tmp_path / "again.npz").read_bytes() == file.read_bytes()
