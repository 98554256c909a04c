"""A cross-encoder so small that a test can make it: it counts the word pieces that question and passage share.

It is honest about what it is: it has the form of a real one (BERT's inputs, one logit) and knows nothing of meaning.
"""

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from core.inference.embeddings.minilm import TOKENIZER


def overlap_reranker(folder: Path) -> Path:
    """Write a model that scores the share of the question's pieces that the passage has too; return its folder."""
    folder.mkdir(parents=True, exist_ok=True)
    names = ("input_ids", "token_type_ids", "attention_mask")
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "length"]) for name in names]
    constants = {
        "one": np.int64(1),
        "special": np.int64(999),
        "rows": np.array([2]),
        "columns": np.array([1]),
        "last": np.array([1]),
    }
    nodes = [
        helper.make_node("Unsqueeze", ["input_ids", "rows"], ["down"]),
        helper.make_node("Unsqueeze", ["input_ids", "columns"], ["across"]),
        helper.make_node("Equal", ["down", "across"], ["same"]),
        helper.make_node("Cast", ["same"], ["same_f"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["token_type_ids", "attention_mask"], ["second"]),
        helper.make_node("Cast", ["second"], ["second_f"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["second_f", "columns"], ["second_across"]),
        helper.make_node("Mul", ["same_f", "second_across"], ["met"]),
        helper.make_node("ReduceMax", ["met", "rows"], ["found"], keepdims=0),
        helper.make_node("Greater", ["input_ids", "special"], ["word"]),
        helper.make_node("Cast", ["word"], ["word_f"], to=TensorProto.FLOAT),
        helper.make_node("Sub", ["one", "token_type_ids"], ["first"]),
        helper.make_node("Cast", ["first"], ["first_f"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["first_f", "word_f"], ["asked"]),
        helper.make_node("Mul", ["found", "asked"], ["shared"]),
        helper.make_node("ReduceSum", ["shared", "last"], ["logits"], keepdims=1),
    ]
    graph = helper.make_graph(
        nodes,
        "overlap",
        inputs,
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", 1])],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    onnx.checker.check_model(model)
    onnx.save(model, str(folder / "model.onnx"))
    (folder / "tokenizer.json").write_bytes(TOKENIZER.read_bytes())
    return folder
