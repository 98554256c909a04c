"""Recognise by a sentence's vector that a model says in it that its sources do not hold what was asked.

Such a sentence is about what the model was given, which no page can prove. Fitted by `python -m benchmarks.refusals
--fit` (`docs/decisions/0068-refusals-are-learned.md`).
"""

from pathlib import Path
from typing import TYPE_CHECKING

from chat.pipeline.guardrails.sentence_classifier import get_classifier

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FITTED = Path(__file__).parent / "fitted_refusals.npz"


def refuses(vector: "NDArray[np.float32]") -> bool:
    """Return whether the sentence of this vector, of shape (384,), says that nothing was found."""
    return get_classifier(FITTED).score(vector) >= 0
