"""Evaluation, shadow tests, gaps, reviews, reports, counts and retention."""

from analytics.models.contradictions import Contradiction, StatementWords
from analytics.models.counts import (
    Assumptions,
    CaseCount,
    ChangedDay,
    DocumentCount,
    ExperimentCount,
    FAQCount,
    FrozenCounts,
    Rephrasing,
    UsageCount,
)
from analytics.models.evaluation import (
    EvaluationQuestion,
    EvaluationRun,
    EvaluationSet,
    Judgment,
    ModelRequest,
    QuestionResult,
)
from analytics.models.gaps import Gap, GapQuestion, GapRun
from analytics.models.inbox import Comment, InboxPreferences, Notice, Reader
from analytics.models.reports import Report, StoredReport
from analytics.models.retention import AnonymisedQuestion, RetentionRun
from analytics.models.reviews import (
    HeldBackRise,
    QualityDrop,
    Review,
    ReviewFeed,
    SampledAnswer,
    SampleNight,
    SampleVerdict,
)
from analytics.models.shadow import AskedVector, ShadowResult, ShadowTest
from analytics.models.timeline import TimelineDate
from analytics.models.topics import Topic, TopicCount, TopicQuestion
from analytics.models.trials import ModelTrial

__all__ = [
    "AnonymisedQuestion",
    "AskedVector",
    "Assumptions",
    "CaseCount",
    "ChangedDay",
    "Comment",
    "Contradiction",
    "DocumentCount",
    "EvaluationQuestion",
    "EvaluationRun",
    "EvaluationSet",
    "ExperimentCount",
    "FAQCount",
    "FrozenCounts",
    "Gap",
    "GapQuestion",
    "GapRun",
    "HeldBackRise",
    "InboxPreferences",
    "Judgment",
    "ModelRequest",
    "ModelTrial",
    "Notice",
    "QualityDrop",
    "QuestionResult",
    "Reader",
    "Rephrasing",
    "Report",
    "RetentionRun",
    "Review",
    "ReviewFeed",
    "SampleNight",
    "SampleVerdict",
    "SampledAnswer",
    "ShadowResult",
    "ShadowTest",
    "StatementWords",
    "StoredReport",
    "TimelineDate",
    "Topic",
    "TopicCount",
    "TopicQuestion",
    "UsageCount",
]
