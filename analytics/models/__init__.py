"""Questions with known answers and how retrieval did on them; what students asked in vain."""

from analytics.models.evaluation import (
    EvaluationQuestion,
    EvaluationRun,
    EvaluationSet,
    Judgment,
    ModelRequest,
    QuestionResult,
)
from analytics.models.gaps import Gap, GapQuestion, GapRun

__all__ = [
    "EvaluationQuestion",
    "EvaluationRun",
    "EvaluationSet",
    "Gap",
    "GapQuestion",
    "GapRun",
    "Judgment",
    "ModelRequest",
    "QuestionResult",
]
