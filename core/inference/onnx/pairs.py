"""A graph with the inputs of BERT that reads two texts together."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from django.conf import settings

if TYPE_CHECKING:
    from numpy.typing import NDArray

WINDOW = 512
#: Pairs read at once; more need more memory.
BATCH = 8


class PairGraph:
    """`model.onnx` and `tokenizer.json` of a folder; safe to share between threads."""

    def __init__(self, folder: Path) -> None:
        import onnxruntime
        from tokenizers import Tokenizer

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = settings.EMBEDDING_THREADS, 1
        self._session: onnxruntime.InferenceSession = onnxruntime.InferenceSession(
            str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"]
        )
        self._names = {each.name for each in self._session.get_inputs()}
        self._tokenizer: Tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.enable_truncation(WINDOW)  # the longer of the two is cut: a pasted page as a question too
        self._tokenizer.enable_padding()

    def logits(self, first: str, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Return the logits of `first` with each of the texts: shape (len(texts), labels); (0, 0) without a text."""
        found = [self._batch(first, texts[start : start + BATCH]) for start in range(0, len(texts), BATCH)]
        return np.concatenate(found) if found else np.empty((0, 0), dtype=np.float32)

    def _batch(self, first: str, texts: Sequence[str]) -> "NDArray[np.float32]":
        encodings = self._tokenizer.encode_batch([(first, text) for text in texts])
        inputs = {
            "input_ids": np.array([each.ids for each in encodings], dtype=np.int64),
            "attention_mask": np.array([each.attention_mask for each in encodings], dtype=np.int64),
            "token_type_ids": np.array([each.type_ids for each in encodings], dtype=np.int64),
        }
        outputs = self._session.run(None, {name: value for name, value in inputs.items() if name in self._names})
        logits: NDArray[np.float32] = np.asarray(outputs[0], dtype=np.float32).reshape(len(texts), -1)
        return logits
