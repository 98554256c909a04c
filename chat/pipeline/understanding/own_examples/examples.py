"""An assistant's own examples as messages are compared with them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
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
    `words` are those of each example, with its kind. `known` has the kind of those with a vector by their words."""

    corrected: CorrectedClassifier | None = None
    words: tuple[tuple[set[str], str], ...] = ()
    known: Mapping[frozenset[str], str] = field(default_factory=dict)

    @classmethod
    def of(cls, base: ExampleClassifier, rows: Sequence[tuple[str, str, "NDArray[np.float32] | None"]]) -> Self:
        """Make it of rows (text, kind, vector); a vector may not be made yet."""
        made = [(vector, kind) for _text, kind, vector in rows if vector is not None]
        vectors, kinds = [vector for vector, _kind in made], [kind for _vector, kind in made]
        return cls(
            corrected=correct(base, np.array(vectors, dtype=np.float32), kinds) if made else None,
            words=tuple((distinct_words(text), kind) for text, kind, _vector in rows),
            known={frozenset(distinct_words(text)): kind for text, kind, vector in rows if vector is not None},
        )

    def kind_of_same(self, text: str) -> str | None:
        """Return the kind of the example with the very words of a message, None if there is none.

        The vectors of a word or two change much with a capital or a full stop.
        """
        words = frozenset(distinct_words(text))
        return self.known.get(words) if words else None


NO_EXAMPLES = OwnExamples()
