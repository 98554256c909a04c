"""A cross-encoder so small that a test can make it: it counts the word pieces that question and passage share.

It is honest about what it is: it has the form of a real one (BERT's inputs, one logit) and knows nothing of meaning.
"""

from pathlib import Path

from onnx import TensorProto

from tests.core.inference.pair_graphs import CONSTANTS, node, same_pieces, write_pair_graph


def overlap_reranker(folder: Path) -> Path:
    """Write a model that scores the share of the question's pieces that the passage has too; return its folder."""
    nodes = [
        *same_pieces(),
        node("Mul", ["token_type_ids", "attention_mask"], "second"),
        node("Cast", ["second"], "second_f", to=TensorProto.FLOAT),
        node("Unsqueeze", ["second_f", "columns"], "second_across"),
        node("Mul", ["same_f", "second_across"], "met"),
        node("ReduceMax", ["met", "rows"], "found", keepdims=0),
        node("Greater", ["input_ids", "special"], "word"),
        node("Cast", ["word"], "word_f", to=TensorProto.FLOAT),
        node("Sub", ["one", "token_type_ids"], "first"),
        node("Cast", ["first"], "first_f", to=TensorProto.FLOAT),
        node("Mul", ["first_f", "word_f"], "asked"),
        node("Mul", ["found", "asked"], "shared"),
        node("ReduceSum", ["shared", "last"], "logits", keepdims=1),
    ]
    write_pair_graph(folder, nodes, CONSTANTS, logits=1)
    return folder
