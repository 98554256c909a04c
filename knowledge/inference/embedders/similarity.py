"""One scale for the cosines of all models.

Where a model's cosines lie is its own: texts about different things are at 0.1 in one and at 0.8 in the next. What has
a threshold or is added up (evidence, the confidence of a FAQ, fusion by score) therefore takes similarities: cosines
moved so that unrelated texts, and texts that say the same, come to lie where those of all-MiniLM-L6-v2 do in English.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Band:
    """Mean cosines of one model: `unrelated` of texts about different things, `same` of those that belong together."""

    unrelated: float
    same: float

    def to(self, other: "Band", cosine: float) -> float:
        """The cosine as `other` has it, 0 to 1: straight lines through both means, and up to 1 for equal texts."""
        if cosine < self.same:
            slope = (other.same - other.unrelated) / (self.same - self.unrelated)
        else:
            slope = (1 - other.same) / (1 - self.same)
        return min(1.0, max(0.0, other.same + (cosine - self.same) * slope))


@dataclass(frozen=True, slots=True)
class Scale:
    """A question's cosines to other questions lie elsewhere than those to what may answer it."""

    questions: Band
    passages: Band

    def of_question(self, cosine: float) -> float:
        """The similarity of two questions, 0 to 1, whatever the model."""
        return self.questions.to(COMMON.questions, cosine)

    def of_passage(self, cosine: float) -> float:
        """The similarity of a question and what may answer it, 0 to 1, whatever the model."""
        return self.passages.to(COMMON.passages, cosine)


#: As `calibration.measured_scale` finds them for all-MiniLM-L6-v2.
COMMON = Scale(questions=Band(0.10, 0.62), passages=Band(0.09, 0.55))
