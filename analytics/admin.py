"""All screens of the analytics, where Django looks for them."""

from analytics.cases.admin.cases import CaseAdmin
from analytics.dashboard.admin.assumptions import AssumptionsAdmin
from analytics.dashboard.admin.timeline import TimelineDateAdmin
from analytics.evaluation.admin.questions import EvaluationQuestionAdmin
from analytics.evaluation.admin.runs import EvaluationRunAdmin
from analytics.evaluation.admin.sets import EvaluationSetAdmin
from analytics.experiments.admin import ExperimentAdmin
from analytics.gaps.admin.gaps import GapAdmin
from analytics.model_trials.admin import (
    language_model_view,
    model_switch_view,
    trial_progress_view,
    trial_start_view,
    trial_stop_view,
)
from analytics.reports.admin.reports import ReportAdmin
from analytics.retention.admin import AnonymisedQuestionAdmin, RetentionRunAdmin
from analytics.reviews.admin.queue import ReviewAdmin
from analytics.shadow.admin.detail import faq_neighbourhood_view
from analytics.shadow.admin.tests import ShadowTestAdmin
from analytics.to_do.page import to_do_view

__all__ = [
    "AnonymisedQuestionAdmin",
    "AssumptionsAdmin",
    "CaseAdmin",
    "EvaluationQuestionAdmin",
    "EvaluationRunAdmin",
    "EvaluationSetAdmin",
    "ExperimentAdmin",
    "GapAdmin",
    "ReportAdmin",
    "RetentionRunAdmin",
    "ReviewAdmin",
    "ShadowTestAdmin",
    "TimelineDateAdmin",
    "faq_neighbourhood_view",
    "language_model_view",
    "model_switch_view",
    "to_do_view",
    "trial_progress_view",
    "trial_start_view",
    "trial_stop_view",
]
