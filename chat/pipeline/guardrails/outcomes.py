"""Recognise by a sentence's vector that it tells its reader an outcome: that they are admitted, exempt, have passed.

Fitted by `python -m benchmarks.decisions --fit` to sentences that two hands wrote
(`docs/decisions/0066-outcomes-are-learned.md`).
"""

from pathlib import Path
from typing import TYPE_CHECKING

from chat.pipeline.guardrails.sentence_classifier import get_classifier

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FITTED = Path(__file__).parent / "fitted_outcomes.npz"


def tells_outcome(vector: "NDArray[np.float32]") -> bool:
    """Return whether the sentence of this vector, of shape (384,), tells its reader an outcome."""
    return get_classifier(FITTED).score(vector) >= 0
