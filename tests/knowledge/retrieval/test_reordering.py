"""A cross-encoder puts the first passages in a new order, and leaves those that staff curated."""

from pathlib import Path

import numpy as np
import pytest
from pytest_django import Settings

from core.inference.reranker import OnnxReranker, RerankerUnavailable, get_reranker
from knowledge.retrieval.reordering import rerank
from tests.factories import DocumentFactory, PassageFactory
from tests.knowledge.rerankers import overlap_reranker


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return overlap_reranker(tmp_path_factory.mktemp("models") / "overlap")


def test_a_model_in_a_folder_scores_pairs_in_their_order(folder: Path) -> None:
    reranker = OnnxReranker(folder)
    texts = ["Nothing of it.", "A parking permit costs 12 euros.", "Parking is free."] * 7
    scores = reranker.scores("What does a parking permit cost?", texts)
    assert scores.shape == (21,)
    assert scores[1] > scores[2] > scores[0]
    assert np.array_equal(scores[:3], scores[3:6])
    assert reranker.scores("What?", []).shape == (0,)
    assert reranker.scores("What? " * 5, ["word " * 5000]).shape == (1,)


@pytest.mark.django_db
def test_the_first_are_put_in_order_and_the_protected_keep_their_places(folder: Path) -> None:
    document = DocumentFactory(title="Cars")
    texts = [
        "Curated, of other words.",
        "The library.",
        "A parking permit costs 12 euros.",
        "Parking permit.",
        "Parking",
    ]
    curated, library, permit, short, beyond = [PassageFactory(document=document, text=text).pk for text in texts]
    order = [curated, library, short, permit, beyond]
    reranker = OnnxReranker(folder)

    def reranked(first: int, protected: set[int]) -> list[int]:
        question = "What does a parking permit cost in euros?"
        return rerank(question, order, first=first, protected=protected, reranker=reranker)

    assert reranked(4, {curated}) == [curated, permit, short, library, beyond]
    assert reranked(4, set()) == [permit, short, curated, library, beyond]
    assert reranked(1, {curated}) == order
    assert reranked(0, set()) == order
    assert reranked(9, {curated}) == [curated, permit, short, beyond, library]


@pytest.mark.django_db
def test_a_passage_that_went_meanwhile_keeps_its_place(folder: Path) -> None:
    one, two = PassageFactory(text="The library.").pk, PassageFactory(text="Parking permit").pk
    assert rerank("parking", [one, 10**9, two], first=3, protected=(), reranker=OnnxReranker(folder)) == [
        two,
        10**9,
        one,
    ]


def test_without_a_model_it_says_what_to_do(settings: Settings, folder: Path, tmp_path: Path) -> None:
    settings.RERANKER_MODEL = ""
    with pytest.raises(RerankerUnavailable, match="RERANKER_MODEL"):
        get_reranker()
    settings.RERANKER_MODEL = str(folder)
    assert get_reranker().model == "overlap"
    (tmp_path / "model.onnx").write_bytes((folder / "model.onnx").read_bytes())
    settings.RERANKER_MODEL = str(tmp_path)
    with pytest.raises(RerankerUnavailable, match=r"tokenizer\.json"):
        get_reranker()
