"""The admin of evaluations, gaps, reports, retention, reviews and shadow tests."""

from analytics.evaluation.admin.questions import EvaluationQuestionAdmin
from analytics.evaluation.admin.runs import EvaluationRunAdmin
from analytics.evaluation.admin.sets import EvaluationSetAdmin
from analytics.gaps.admin import GapAdmin
from analytics.reports.admin.reports import ReportAdmin
from analytics.retention.admin import AnonymisedQuestionAdmin, RetentionRunAdmin
from analytics.reviews.admin.queue import ReviewAdmin
from analytics.shadow.admin.detail import faq_neighbourhood_view
from analytics.shadow.admin.tests import ShadowTestAdmin

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
