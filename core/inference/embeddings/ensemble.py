"""Two models as one: the English model's vector and the multilingual one's, side by side.

all-MiniLM-L6-v2 distinguishes English paraphrases better, multilingual-e5-small knows German and a hundred other
languages. The cosine of two joined vectors is the weighted mean of both models' cosines.
"""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np

from core.hashing import fingerprint
from core.inference.embeddings.base import Embedder
from core.inference.embeddings.calibration import Band, Scale
from core.inference.embeddings.e5.embedder import MULTILINGUAL, MultilingualEmbedder
from core.inference.embeddings.language_means import centre
from core.inference.embeddings.minilm import MINILM, MiniLMEmbedder

if TYPE_CHECKING:
    from numpy.typing import NDArray

Embed = Callable[[Sequence[str]], "NDArray[np.float32]"]

JOINED = f"{MINILM}+{MULTILINGUAL}"
#: The English model's share of a cosine. Its cosines spread four times as far, so the shares count about the same.
ENGLISH_SHARE = 0.25


#: Reads the cosines of `only_multilingual` and joined vectors.
MULTILINGUAL_SCALE = Scale(
    *(
        Band(*((1 - ENGLISH_SHARE) ** 0.5 * edge for edge in (band.unrelated, band.same)))
        for band in (MultilingualEmbedder.scale.questions, MultilingualEmbedder.scale.passages)
    )
)
#: Reads the cosines of `only_multilingual` and joined vectors without the mean of the question's language, which are
#: small; measured on the texts of `calibration`.
CENTRED_SCALE = Scale(questions=MULTILINGUAL_SCALE.questions, passages=Band(-0.018, 0.134))


class JoinedEmbedder:
    """all-MiniLM-L6-v2 and multilingual-e5-small, each in a thread of its own; safe to share between threads."""

    model = JOINED
    dimensions = MiniLMEmbedder.dimensions + MultilingualEmbedder.dimensions
    recipe = fingerprint(JOINED, MiniLMEmbedder.recipe, MultilingualEmbedder.recipe, str(ENGLISH_SHARE))
    #: Measured by `calibration.measured_scale`.
    scale = Scale(questions=Band(0.666, 0.827), passages=Band(0.637, 0.782))

    def __init__(self, english: Embedder, multilingual: Embedder) -> None:
        self._english, self._multilingual = english, multilingual
        # Both release the interpreter while they multiply. As many as may ask at once: nobody waits for another's text.
        self._beside = ThreadPoolExecutor(os.cpu_count() or 1, "english-vectors")

    def count_tokens(self, text: str) -> int:
        """Count as the model that needs more pieces: a passage must fit the windows of both."""
        return max(self._english.count_tokens(text), self._multilingual.count_tokens(text))

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        return self._joined(self._english.embed, self._multilingual.embed, texts)

    def embed_questions(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        return self._joined(self._english.embed_questions, self._multilingual.embed_questions, texts)

    def _joined(self, english: Embed, multilingual: Embed, texts: Sequence[str]) -> "NDArray[np.float32]":
        beside = self._beside.submit(english, texts)
        share, vectors = ENGLISH_SHARE, multilingual(texts)
        return np.hstack((share**0.5 * beside.result(), (1 - share) ** 0.5 * vectors))


def multilingual_part(joined: "NDArray[np.float32]") -> "NDArray[np.float32]":
    """Return the multilingual model's own unit vectors, of which joined ones (…, dimensions) are made."""
    part: NDArray[np.float32] = joined[..., MiniLMEmbedder.dimensions :] / (1 - ENGLISH_SHARE) ** 0.5
    return part


def english_part(joined: "NDArray[np.float32]") -> "NDArray[np.float32]":
    """Return the English model's own unit vectors, of which joined ones (…, dimensions) are made."""
    part: NDArray[np.float32] = joined[..., : MiniLMEmbedder.dimensions] / ENGLISH_SHARE**0.5
    return part


def only_multilingual(joined: "NDArray[np.float32]") -> "NDArray[np.float32]":
    """Return a joined question's unit vector that compares by the multilingual model alone."""
    return _beside_nothing(multilingual_part(joined))


def centred_multilingual(joined: "NDArray[np.float32]", language: str | None) -> "NDArray[np.float32]":
    """Return as `only_multilingual`, without what questions of its language have in common."""
    return _beside_nothing(centre(multilingual_part(joined)[None], [language])[0])


def _beside_nothing(part: "NDArray[np.float32]") -> "NDArray[np.float32]":
    return np.concatenate((np.zeros(MiniLMEmbedder.dimensions, dtype=np.float32), part))
