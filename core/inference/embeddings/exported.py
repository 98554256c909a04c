"""Embedding models in the folders that `manage.py export_embedding_model` writes; they run without torch."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from core.hashing import fingerprint
from core.inference.embeddings.base import EmbeddingUnavailable
from core.inference.embeddings.calibration import measured_scale
from core.inference.onnx.graph import IDS, PLACES
from core.inference.onnx.session import EncoderSession

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: How such a model is named: `exported:FOLDER`.
EXPORTED = "exported:"
GRAPH, TOKENIZER, DESCRIPTION = "model.onnx", "tokenizer.json", "embedding.json"


def is_exported(folder: Path) -> bool:
    return (folder / DESCRIPTION).is_file()


class ExportedEmbedder:
    """A model in a folder; safe to share between threads.

    `embedding.json` has the vectors' `dimensions`, the `window` in word pieces, the `question_prefix` and the
    `passage_prefix`, and a `version` that changes with the weights.
    """

    def __init__(self, folder: Path, *, threads: int = 1) -> None:
        from tokenizers import Tokenizer

        if missing := [name for name in (DESCRIPTION, GRAPH, TOKENIZER) if not (folder / name).is_file()]:
            raise EmbeddingUnavailable(
                f"EMBEDDING_MODEL {str(folder)!r} lacks {', '.join(missing)}: export the model again."
            )
        given: dict[str, Any] = json.loads((folder / DESCRIPTION).read_text("utf-8"))
        self.model, self.dimensions = f"{EXPORTED}{folder}", int(given["dimensions"])
        self._question, self._passage = str(given["question_prefix"]), str(given["passage_prefix"])
        self.recipe = fingerprint("exported", str(given["version"]), self._question, self._passage)
        self._session = EncoderSession(folder / GRAPH, threads=threads)
        self._tokenizer: Tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._special: int = self._tokenizer.num_special_tokens_to_add(is_pair=False)
        self._window = int(given["window"])
        self.scale = measured_scale(self.embed_questions, self.embed)

    def count_tokens(self, text: str) -> int:
        return len(self._tokenizer.encode(text, add_special_tokens=False).ids)

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        return self._vectors([self._passage + text for text in texts])

    def embed_questions(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        return self._vectors([self._question + text for text in texts])

    def _vectors(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        vectors = np.empty((len(texts), self.dimensions), dtype=np.float32)
        for row, text in enumerate(texts):
            encoding = self._tokenizer.encode(text, add_special_tokens=False)
            encoding.truncate(self._window - self._special)
            ids = np.array([self._tokenizer.post_process(encoding).ids], dtype=np.int64)
            # A graph that torch wrote counts the places itself.
            places = {PLACES: np.arange(ids.shape[1])} if PLACES in self._session.inputs else {}
            vectors[row] = self._session.unit_vector(**{IDS: ids}, **places)
        return vectors
