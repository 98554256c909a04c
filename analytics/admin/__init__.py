"""Where staff keep questions with known answers, run retrieval profiles on them, and see how they did; and what
students asked in vain."""

from analytics.admin.gaps import GapAdmin
from analytics.admin.questions import EvaluationQuestionAdmin
from analytics.admin.runs import EvaluationRunAdmin
from analytics.admin.sets import EvaluationSetAdmin

__all__ = ["EvaluationQuestionAdmin", "EvaluationRunAdmin", "EvaluationSetAdmin", "GapAdmin"]
