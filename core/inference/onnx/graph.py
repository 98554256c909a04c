"""BERT's encoder (Devlin et al. 2019) as an ONNX graph that multiplies in int8, from any source of its weights.

Dynamic quantization (Jacob et al. 2018): a product's left side is quantized on the fly, its right side is stored in
int8 with one scale a column. A few columns of the left side are so large that eight bits cannot hold the others
beside them: those outliers are multiplied in float (LLM.int8, Dettmers et al. 2022). Nodes of ONNX Runtime's own do
what BERT needs in one step (attention, a sum with its normalisation, a bias with its GELU).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

EMBEDDINGS, IDS, PLACES, OUTPUT = "embeddings", "input_ids", "position_ids", "pooled"
CONTRIB = "com.microsoft"


@dataclass(frozen=True, slots=True)
class Shape:
    """The network's: BERT's, with `layers` of `heads` heads, vectors of `width` and `feed_forward` numbers."""

    width: int
    layers: int
    heads: int
    feed_forward: int
    window: int
    epsilon: float


@dataclass(frozen=True, slots=True, eq=False)
class Words:
    """The vocabulary's embeddings, int8 rows with one scale each, and the sums of position and type embeddings."""

    rows: "NDArray[np.int8]"
    scales: "NDArray[np.float32]"
    places: "NDArray[np.float32]"


class Weights(Protocol):
    """Weights by name: `emb.ln` and, in each layer `l0`, `q`, `k`, `v`, `ao`, `aln`, `fi`, `fo`, `oln`; then `w`, `b`.

    `largest` is the largest weight in int8: a processor without VNNI adds two products in sixteen bits, which 64 cannot
    overflow (255 * 64 * 2) and 127 can in theory. `outliers` has the columns that a product multiplies in float, by its
    name, such as `l0.fi`, or `l0.qkv` for three.
    """

    shape: Shape
    largest: int
    outliers: Mapping[str, Sequence[int]]

    def vector(self, name: str) -> "NDArray[np.float32]":
        """Return a bias or a weight of a normalisation."""

    def matrix(self, name: str, rows: int) -> "NDArray[np.float32]":
        """Return a projection, of shape (rows, columns): one row for each number that it makes."""


class _Graph:
    """The nodes and constants of a graph that is being written."""

    def __init__(self, source: Weights) -> None:
        from onnx import TensorProto
        from onnx.onnx_pb import NodeProto

        self.source = source
        self.weights: list[TensorProto] = []
        self.nodes: list[NodeProto] = []

    def constant(self, name: str, values: "NDArray[Any]") -> str:
        from onnx import numpy_helper

        self.weights.append(numpy_helper.from_array(np.asarray(values, order="C"), name))
        return name

    def vectors(self, *names: str) -> list[str]:
        return [self.constant(name, self.source.vector(name)) for name in names]

    def node(self, kind: str, inputs: list[str], *outputs: str, domain: str = CONTRIB, **options: Any) -> str:
        from onnx import helper

        self.nodes.append(helper.make_node(kind, inputs, list(outputs), domain=domain, **options))
        return outputs[0]

    def product(self, x: str, output: str, matrix: "NDArray[np.float32]") -> str:
        outliers = self.source.outliers.get(output, ())
        if not outliers:
            return self._int8_product(x, output, matrix)
        columns = np.array(outliers, dtype=np.int64)
        few = self.node("Gather", [x, self.constant(f"{output}.few", columns)], f"{output}.large", domain="", axis=2)
        weights = self.constant(f"{output}.large.w", matrix[:, columns].T)
        in_float = self.node("MatMul", [few, weights], f"{output}.float", domain="")
        others = np.ones(matrix.shape[1], dtype=np.float32)
        others[columns] = 0
        x = self.node("Mul", [x, self.constant(f"{output}.others", others)], f"{output}.small", domain="")
        in_int8 = self._int8_product(x, f"{output}.int8", matrix * others)
        return self.node("Add", [in_int8, in_float], output, domain="")

    def _int8_product(self, x: str, output: str, matrix: "NDArray[np.float32]") -> str:
        scales = np.maximum(np.abs(matrix).max(axis=1), 1e-12) / self.source.largest
        stored = np.rint(matrix / scales[:, None]).astype(np.int8)
        inputs = [x, self.constant(f"{output}.w", stored.T), self.constant(f"{output}.s", scales.astype(np.float32))]
        zeros = self.constant(f"{output}.z", np.zeros(len(matrix), dtype=np.int8))
        return self.node("DynamicQuantizeMatMul", [*inputs, zeros], output)

    def looked_up(self, words: Words) -> str:
        """Sum the embeddings of the pieces and of their places."""
        from onnx import TensorProto

        rows, scales = self.constant("words", words.rows), self.constant("words.s", words.scales.reshape(-1, 1))
        row = self.node("Gather", [rows, IDS], "row", domain="")
        row = self.node("Cast", [row], "row.float", domain="", to=TensorProto.FLOAT)
        word = self.node("Mul", [row, self.node("Gather", [scales, IDS], "scale", domain="")], "word", domain="")
        place = self.node("Gather", [self.constant("places", words.places), PLACES], "place", domain="")
        return self.node("Add", [word, place], EMBEDDINGS, domain="")


def encoder(source: Weights, *, words: Words | None = None, pooling: str = "mean") -> bytes:
    """Build the encoder of one text: its pieces in, the `mean` of their encodings out, or the first one's (`cls`).

    The second output is the encodings themselves, (1, length, width).
    Pieces are ids (1, length) and places (length,) where `words` are given, else sums of word, position and type
    embeddings (1, length, width).
    """
    import onnx
    from onnx import TensorProto, helper

    shape, graph = source.shape, _Graph(source)
    if words is None:
        inputs = [helper.make_tensor_value_info(EMBEDDINGS, TensorProto.FLOAT, [1, "length", shape.width])]
    else:
        graph.looked_up(words)
        inputs = [
            helper.make_tensor_value_info(IDS, TensorProto.INT64, [1, "length"]),
            helper.make_tensor_value_info(PLACES, TensorProto.INT64, ["length"]),
        ]
    names, epsilon = graph.vectors("emb.ln.w", "emb.ln.b"), shape.epsilon
    x = graph.node("LayerNormalization", [EMBEDDINGS, *names], "x", domain="", axis=-1, epsilon=epsilon)
    for number in range(shape.layers):
        x = _layer(graph, f"l{number}", x)
    if pooling == "mean":
        axes = graph.constant("axes", np.array([1], dtype=np.int64))
        graph.node("ReduceMean", [x, axes], OUTPUT, domain="", keepdims=0)
    else:
        graph.node("Gather", [x, graph.constant("first", np.array(0, dtype=np.int64))], OUTPUT, domain="", axis=1)
    outputs = [
        helper.make_tensor_value_info(OUTPUT, TensorProto.FLOAT, [1, shape.width]),
        helper.make_tensor_value_info(x, TensorProto.FLOAT, [1, "length", shape.width]),
    ]
    model: onnx.ModelProto = helper.make_model(
        helper.make_graph(graph.nodes, "encoder", inputs, outputs, graph.weights),
        opset_imports=[helper.make_opsetid("", 18), helper.make_opsetid(CONTRIB, 1)],
        ir_version=9,
    )
    data: bytes = model.SerializeToString()
    return data


def _layer(graph: _Graph, layer: str, x: str) -> str:
    source, shape = graph.source, graph.source.shape
    three = [f"{layer}.{each}" for each in "qkv"]
    graph.product(x, f"{layer}.qkv", np.concatenate([source.matrix(f"{each}.w", shape.width) for each in three]))
    graph.node("Split", [f"{layer}.qkv"], *three, domain="", axis=-1, num_outputs=3)
    bias = graph.constant(f"{layer}.qkv.b", np.concatenate([source.vector(f"{each}.b") for each in three]))
    attended = graph.node("MultiHeadAttention", [*three, bias], f"{layer}.attention", num_heads=shape.heads)
    y = graph.product(attended, f"{layer}.ao", source.matrix(f"{layer}.ao.w", shape.width))
    norm = graph.vectors(f"{layer}.aln.w", f"{layer}.aln.b", f"{layer}.ao.b")
    x = graph.node("SkipLayerNormalization", [y, x, *norm], f"{layer}.attended", epsilon=shape.epsilon)
    y = graph.product(x, f"{layer}.fi", source.matrix(f"{layer}.fi.w", shape.feed_forward))
    y = graph.node("BiasGelu", [y, *graph.vectors(f"{layer}.fi.b")], f"{layer}.gelu")
    y = graph.product(y, f"{layer}.fo", source.matrix(f"{layer}.fo.w", shape.width))
    norm = graph.vectors(f"{layer}.oln.w", f"{layer}.oln.b", f"{layer}.fo.b")
    return graph.node("SkipLayerNormalization", [y, x, *norm], f"{layer}.out", epsilon=shape.epsilon)
