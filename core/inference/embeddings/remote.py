"""Embedding models that are not built in: through sentence-transformers, or behind an endpoint."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from django.conf import settings

from core.hashing import fingerprint
from core.inference.embeddings.base import EmbeddingUnavailable
from core.inference.embeddings.calibration import measured_scale
from core.inference.embeddings.minilm import TOKENIZER

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: How such a model is named: `sentence-transformers:NAME`, or `endpoint:NAME BASE_URL`; then its prefixes, if any.
SENTENCE_TRANSFORMERS, ENDPOINT = "sentence-transformers:", "endpoint:"
#: What an HNSW index of pgvector's half-precision vectors can hold.
MOST_DIMENSIONS = 4000
ENDPOINT_BATCH = 32
ENDPOINT_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Prefixes:
    """Prefixes that a model needs before questions and before passages."""

    question: str = ""
    passage: str = ""

    @property
    def recipe(self) -> tuple[str, ...]:
        """Return the prefixes' part of a recipe, empty without prefixes."""
        return (self.question, self.passage) if self.question or self.passage else ()

    def to_questions(self, texts: Sequence[str]) -> list[str]:
        return [f"{self.question} {text}" for text in texts] if self.question else list(texts)

    def to_passages(self, texts: Sequence[str]) -> list[str]:
        return [f"{self.passage} {text}" for text in texts] if self.passage else list(texts)


class SentenceTransformerEmbedder:
    """Any sentence-transformers model by name or folder (the extra `sentence-transformers`)."""

    def __init__(self, name: str, prefixes: Prefixes = Prefixes()) -> None:
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            raise EmbeddingUnavailable(
                f"EMBEDDING_MODEL is {name!r}, but sentence-transformers is not installed: install the extra "
                "`sentence-transformers`, or set EMBEDDING_BASE_URL to a server that has the model."
            ) from error
        self._model, self._prefixes = SentenceTransformer(name, device="cpu"), prefixes
        self.model = named(SENTENCE_TRANSFORMERS + name, prefixes)
        self.dimensions = _checked_length(name, int(self._model.get_sentence_embedding_dimension() or 0))
        window = str(self._model.max_seq_length)
        self.recipe = fingerprint("sentence-transformers", Path(name).name, window, *prefixes.recipe)
        self.scale = measured_scale(self.embed_questions, self.embed)

    def count_tokens(self, text: str) -> int:
        return len(self._model.tokenizer.tokenize(text))

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        return self._vectors(self._prefixes.to_passages(texts))

    def embed_questions(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        return self._vectors(self._prefixes.to_questions(texts))

    def _vectors(self, texts: list[str]) -> "NDArray[np.float32]":
        vectors: NDArray[np.float32] = self._model.encode(
            texts, batch_size=8, normalize_embeddings=True, show_progress_bar=False
        )
        return vectors


class EndpointEmbedder:
    """A model behind an OpenAI-compatible `/embeddings`; lengths are counted in all-MiniLM-L6-v2's word pieces."""

    def __init__(self, name: str, base_url: str, prefixes: Prefixes = Prefixes()) -> None:
        import openai
        from tokenizers import Tokenizer

        self._name, self._prefixes = name, prefixes
        self.model = named(f"{ENDPOINT}{name} {base_url}", prefixes)
        self._errors = (openai.OpenAIError, ValueError, TypeError)
        self._client = openai.OpenAI(
            base_url=base_url, api_key=settings.EMBEDDING_API_KEY, timeout=ENDPOINT_SECONDS, max_retries=2
        )
        self._counter: Tokenizer = Tokenizer.from_file(str(TOKENIZER))
        self._counter.no_truncation()
        self._counter.no_padding()
        self.dimensions = 0
        self.dimensions = _checked_length(name, self.embed(["length"]).shape[1])
        self.recipe = fingerprint("endpoint", name, str(self.dimensions), *prefixes.recipe)
        self.scale = measured_scale(self.embed_questions, self.embed)

    def count_tokens(self, text: str) -> int:
        return len(self._counter.encode(text, add_special_tokens=False).ids)

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        return self._vectors(self._prefixes.to_passages(texts))

    def embed_questions(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        return self._vectors(self._prefixes.to_questions(texts))

    def _vectors(self, texts: list[str]) -> "NDArray[np.float32]":
        found: list[list[float]] = []
        for start in range(0, len(texts), ENDPOINT_BATCH):
            batch = texts[start : start + ENDPOINT_BATCH]
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


def named(model: str, prefixes: Prefixes) -> str:
    """Add the prefixes to the model's name: other prefixes make other vectors."""
    return f"{model} {json.dumps(prefixes.recipe, ensure_ascii=False)}" if prefixes.recipe else model


def _checked_length(name: str, length: int) -> int:
    if not 1 <= length <= MOST_DIMENSIONS:
        raise EmbeddingUnavailable(
            f"EMBEDDING_MODEL {name!r} makes vectors of {length} numbers; 1 to {MOST_DIMENSIONS} can be indexed."
        )
    return length
