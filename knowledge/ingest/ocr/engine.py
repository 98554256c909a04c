"""RapidOCR with the models of its wheel."""

import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import rapidocr
from numpy.typing import NDArray

from knowledge.ingest.ocr.skew import straighten
from knowledge.ingest.ocr.types import ReadLine

MODELS = Path(rapidocr.__file__).parent / "models"
DETECTION, RECOGNITION = MODELS / "PP-OCRv6_det_small.onnx", MODELS / "PP-OCRv6_rec_small.onnx"
#: Of a picture's longer side; above, RapidOCR makes it smaller.
LONGEST = 3_000
#: With a lower mean score a page may lie upside down.
POOR = 0.8
#: The model does not know the quotation mark below, which it reads as commas, if at all.
LOW_QUOTES = re.compile(r"(?<![^\s(]),{1,2}(?=\w)")


class Engine:
    """Reads pictures; half of the cores are left to others.

    All models are named by path: what is not named, RapidOCR downloads.
    """

    def __init__(self) -> None:
        self._read = rapidocr.RapidOCR(
            params={
                "Global.log_level": "critical",
                "Global.use_cls": False,
                "Global.max_side_len": LONGEST,
                "Det.model_path": str(DETECTION),
                "Rec.model_path": str(RECOGNITION),
                "EngineConfig.onnxruntime.intra_op_num_threads": max(1, (os.cpu_count() or 1) // 2),
            }
        )

    def read(self, picture: NDArray[np.uint8]) -> list[ReadLine]:
        """Read a picture (height, width, BGR), turned by quarters if its lines do not lie."""
        lines, score, stand = self._lines(picture)
        turns = (1, 3) if stand else (2,) if lines and score < POOR else ()
        for turn in turns:
            others, other_score, _stand = self._lines(np.ascontiguousarray(np.rot90(picture, turn)))
            if other_score > score:
                lines, score = others, other_score
        return lines

    def _lines(self, picture: NDArray[np.uint8]) -> tuple[list[ReadLine], float, bool]:
        """Return the lines, their mean score by letters, and whether most of them stand on their side."""
        found: Any = self._read(picture)
        if found.boxes is None or not found.txts:
            return [], 0.0, False
        height, width = picture.shape[:2]
        quads = [[(float(x), float(y)) for x, y in box] for box in found.boxes]
        letters = [len(text) for text in found.txts]
        score = sum(count * value for count, value in zip(letters, found.scores, strict=True)) / sum(letters)
        standing = sum(abs(quad[3][1] - quad[0][1]) > 1.5 * abs(quad[1][0] - quad[0][0]) for quad in quads)
        lines = straighten(quads, [LOW_QUOTES.sub("„", text) for text in found.txts], width=width, height=height)
        return lines, score, standing > len(quads) / 2
