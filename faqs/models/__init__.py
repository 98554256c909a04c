"""Curated questions with their phrasings, answers, sources, vectors and versions, and pairs of duplicates."""

from faqs.models.faqs import (
    ANSWER_FIELDS,
    ANSWER_LANGUAGES,
    FAQ,
    MOST_ANSWER_CHARACTERS,
    SOON,
    Category,
    FAQQuerySet,
    main_language,
)
from faqs.models.matching import ConfirmedQuestion, ConfirmedVector, Matcher, MatcherFit
from faqs.models.parts import AnswerPage, FAQSource, Phrasing
from faqs.models.similar_pairs import SimilarPair
from faqs.models.vectors import FAQVector
from faqs.models.versions import FAQVersion

__all__ = [
    "ANSWER_FIELDS",
    "ANSWER_LANGUAGES",
    "FAQ",
    "MOST_ANSWER_CHARACTERS",
    "SOON",
    "AnswerPage",
    "Category",
    "ConfirmedQuestion",
    "ConfirmedVector",
    "FAQQuerySet",
    "FAQSource",
    "FAQVector",
    "FAQVersion",
    "Matcher",
    "MatcherFit",
    "Phrasing",
    "SimilarPair",
    "main_language",
]
