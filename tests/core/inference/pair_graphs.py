"""Graphs for tests in the form of a cross-encoder: BERT's inputs for a pair of texts, one or more logits."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from core.inference.embeddings.minilm import TOKENIZER

INPUTS = ("input_ids", "token_type_ids", "attention_mask")
#: For `same_pieces`, and for sums: ids above `special` are pieces of words.
CONSTANTS = {
    "one": np.int64(1),
    "special": np.int64(999),
    "rows": np.array([2]),
    "columns": np.array([1]),
    "last": np.array([1]),
}


def node(kind: str, inputs: Sequence[str], output: str, **options: Any) -> onnx.NodeProto:
    return helper.make_node(kind, inputs, [output], **options)


def same_pieces() -> list[onnx.NodeProto]:
    """Return nodes that make `same_f`, which tells for each two places whether they have the same piece."""
    return [
        node("Unsqueeze", ["input_ids", "rows"], "down"),
        node("Unsqueeze", ["input_ids", "columns"], "across"),
        node("Equal", ["down", "across"], "same"),
        node("Cast", ["same"], "same_f", to=TensorProto.FLOAT),
    ]


def write_pair_graph(
    folder: Path, nodes: Sequence[onnx.NodeProto], constants: Mapping[str, Any], *, logits: int
) -> None:
    """Write the graph and a tokenizer into a folder, as a model is kept."""
    folder.mkdir(parents=True, exist_ok=True)
    graph = helper.make_graph(
        nodes,
        "overlap",
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "length"]) for name in INPUTS],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", logits])],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    onnx.checker.check_model(model)
    onnx.save(model, str(folder / "model.onnx"))
    (folder / "tokenizer.json").write_bytes(TOKENIZER.read_bytes())
