"""Entailment models for tests: one so small that a test can make it, and an endpoint that says what it is told.

The small one counts the word pieces of a sentence that a text lacks. It is honest about what it is: it has the form of
a real one (BERT's inputs, a logit for each label) and knows nothing of meaning.
"""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from onnx import TensorProto

from tests.core.inference.pair_graphs import CONSTANTS, node, same_pieces, write_pair_graph

LABELS = {0: "contradiction", 1: "ENTAILMENT"}


def overlap_verifier(folder: Path, labels: dict[int, str] = LABELS) -> Path:
    """Write a model whose first logit is twice the pieces that are missing, and whose second is 1."""
    nodes = [
        *same_pieces(),
        node("Sub", ["one", "token_type_ids"], "first"),
        node("Cast", ["first"], "first_f", to=TensorProto.FLOAT),
        node("Unsqueeze", ["first_f", "columns"], "first_across"),
        node("Mul", ["same_f", "first_across"], "met"),
        node("ReduceMax", ["met", "rows"], "found", keepdims=0),
        node("Sub", ["one_f", "found"], "lacking"),
        node("Greater", ["input_ids", "special"], "word"),
        node("Cast", ["word"], "word_f", to=TensorProto.FLOAT),
        node("Cast", ["token_type_ids"], "second_f", to=TensorProto.FLOAT),
        node("Mul", ["second_f", "word_f"], "said"),
        node("Mul", ["lacking", "said"], "missing"),
        node("ReduceSum", ["missing", "last"], "count", keepdims=1),
        node("Mul", ["count", "two"], "against"),
        node("Mul", ["count", "none"], "nothing"),
        node("Add", ["nothing", "one_f"], "for"),
        node("Concat", ["against", "for"], "logits", axis=1),
    ]
    write_pair_graph(
        folder, nodes, CONSTANTS | {"two": np.float32(2), "none": np.float32(0), "one_f": np.float32(1)}, logits=2
    )
    (folder / "config.json").write_text(json.dumps({"id2label": labels}))
    return folder


class Scores(BaseHTTPRequestHandler):
    """vLLM's `/score`: a pair of texts in, a score out."""

    requests: ClassVar[list[tuple[str, dict[str, Any]]]] = []
    status: ClassVar[int] = 200
    score: ClassVar[float] = 0.93

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        type(self).requests.append((self.path, asked))
        answer = {
            "id": "score-1",
            "object": "list",
            "created": 1,
            "model": asked["model"],
            "data": [{"index": 0, "object": "score", "score": type(self).score}],
            "usage": {"prompt_tokens": 30, "total_tokens": 30, "completion_tokens": 0},
        }
        body = json.dumps(answer).encode()
        self.send_response(type(self).status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def serving_scores() -> Iterator[str]:
    """Serve until the block ends; yield the address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Scores)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    Scores.requests, Scores.status, Scores.score = [], 200, 0.93
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
