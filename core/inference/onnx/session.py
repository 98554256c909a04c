"""A session of ONNX Runtime for a graph that embeds one text."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


class EncoderSession:
    """Runs the graph of `core.inference.onnx.graph`; safe to share between threads."""

    def __init__(self, graph: Path, *, threads: int) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        # Freed memory is returned after each text: the arena would keep as much as the longest one needed.
        options.enable_cpu_mem_arena = False
        self._session: onnxruntime.InferenceSession = onnxruntime.InferenceSession(
            str(graph), options, providers=["CPUExecutionProvider"]
        )
        self.inputs = frozenset(each.name for each in self._session.get_inputs())
        self._outputs = [each.name for each in self._session.get_outputs()]

    def unit_vector(self, **inputs: "NDArray[Any]") -> "NDArray[np.float32]":
        """Embed one text: a batch would share its quantization scale, so a vector would depend on its neighbours."""
        pooled = self.pooled(**inputs)
        unit: NDArray[np.float32] = pooled / np.linalg.norm(pooled)
        return unit

    def pooled(self, **inputs: "NDArray[Any]") -> "NDArray[np.float32]":
        """Return the pooled encoding of one text, of shape (width,)."""
        (pooled,) = self._session.run(self._outputs[:1], inputs)
        encoding: NDArray[np.float32] = pooled[0]
        return encoding

    def encodings(self, **inputs: "NDArray[Any]") -> "NDArray[np.float32]":
        """Encode one text's pieces, of shape (pieces, width)."""
        (encoded,) = self._session.run(self._outputs[1:2], inputs)
        pieces: NDArray[np.float32] = encoded[0]
        return pieces
