"""An assistant's own examples as messages are compared with them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from chat.pipeline.understanding.example_classifier import ExampleClassifier
from chat.pipeline.understanding.own_examples.correction import CorrectedClassifier, correct
from core.terms import distinct_words

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class OwnExamples:
    """`corrected` is the shipped classifier with what these examples change, None if there are none with a vector;
    `words` are those of each example, with its kind."""

    corrected: CorrectedClassifier | None = None
    words: tuple[tuple[set[str], str], ...] = ()

    @classmethod
    def of(cls, base: ExampleClassifier, rows: Sequence[tuple[str, str, "NDArray[np.float32] | None"]]) -> Self:
        """Make it of rows (text, kind, vector); a vector may not be made yet."""
        made = [(vector, kind) for _text, kind, vector in rows if vector is not None]
        vectors, kinds = [vector for vector, _kind in made], [kind for _vector, kind in made]
        return cls(
            corrected=correct(base, np.array(vectors, dtype=np.float32), kinds) if made else None,
            words=tuple((distinct_words(text), kind) for text, kind, _vector in rows),
        )


NO_EXAMPLES = OwnExamples()
