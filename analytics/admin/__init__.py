"""Where staff keep questions with known answers, run retrieval profiles on them, and see how they did; and what
students asked in vain."""

from analytics.admin.gaps import GapAdmin
from analytics.admin.questions import EvaluationQuestionAdmin
from analytics.admin.reports import ReportAdmin
from analytics.admin.retention import AnonymisedQuestionAdmin, RetentionRunAdmin
from analytics.admin.review_queue import ReviewAdmin
from analytics.admin.runs import EvaluationRunAdmin
from analytics.admin.sets import EvaluationSetAdmin
from analytics.admin.shadow import ShadowTestAdmin
from analytics.admin.shadow_inline import faq_neighbourhood_view

__all__ = [
    "AnonymisedQuestionAdmin",
    "EvaluationQuestionAdmin",
    "EvaluationRunAdmin",
    "EvaluationSetAdmin",
    "GapAdmin",
    "ReportAdmin",
    "RetentionRunAdmin",
    "ReviewAdmin",
    "ShadowTestAdmin",
    "faq_neighbourhood_view",
]
