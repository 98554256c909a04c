"""Cross-encoder: scores a question and a passage read together (Nogueira and Cho 2019). The only place that runs one.

`RERANKER_MODEL` is a folder with `model.onnx` and `tokenizer.json`, run by ONNX Runtime, or the name or folder of a
CrossEncoder of sentence-transformers (the extra). None is part of the product.
"""

import threading
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from django.conf import settings

from core.inference.onnx.pairs import BATCH, WINDOW, PairGraph

if TYPE_CHECKING:
    from numpy.typing import NDArray


class RerankerUnavailable(Exception):
    """A profile reranks, but no model is available; the message says what to do."""


class Reranker(Protocol):
    model: str

    def scores(self, question: str, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Score the texts: shape (len(texts),), in their order; higher is closer."""


class OnnxReranker:
    """A cross-encoder's graph whose last logit is the score."""

    def __init__(self, folder: Path) -> None:
        self.model, self._graph = folder.name, PairGraph(folder)

    def scores(self, question: str, texts: Sequence[str]) -> "NDArray[np.float32]":
        return self._graph.logits(question, texts)[:, -1] if texts else np.empty(0, dtype=np.float32)


class SentenceTransformersReranker:
    def __init__(self, name: str) -> None:
        try:
            from sentence_transformers import CrossEncoder
        except ImportError as error:
            raise RerankerUnavailable(
                f"RERANKER_MODEL is {name!r}, but sentence-transformers is not installed: install the extra "
                "`sentence-transformers`, or name a folder with model.onnx and tokenizer.json."
            ) from error
        self.model = Path(name).name
        self._model: Any = CrossEncoder(name, device="cpu", max_length=WINDOW)

    def scores(self, question: str, texts: Sequence[str]) -> "NDArray[np.float32]":
        pairs = [(question, text) for text in texts]
        return np.asarray(self._model.predict(pairs, batch_size=BATCH, show_progress_bar=False), dtype=np.float32)


_loading = threading.Lock()


@cache
def _load(name: str) -> Reranker:
    folder = Path(name)
    if (folder / "model.onnx").exists():
        if not (folder / "tokenizer.json").exists():
            raise RerankerUnavailable(f"RERANKER_MODEL {name!r} has a model.onnx but no tokenizer.json beside it.")
        try:
            return OnnxReranker(folder)
        except Exception as error:  # a broken file fails in many ways, and must not end the answer
            raise RerankerUnavailable(
                f"RERANKER_MODEL {name!r} cannot be read ({type(error).__name__}): copy its files anew."
            ) from error
    return SentenceTransformersReranker(name)


def get_reranker() -> Reranker:
    """Return this process's cross-encoder, loaded once; raises RerankerUnavailable."""
    if not settings.RERANKER_MODEL:
        raise RerankerUnavailable(
            "This retrieval profile reranks, but RERANKER_MODEL names no cross-encoder: set it to a folder or a name, "
            "or choose another profile."
        )
    with _loading:
        return _load(settings.RERANKER_MODEL)
