"""Curated questions with their phrasings, sources, vectors and versions, and pairs of duplicates."""

from faqs.models.faqs import FAQ, SOON, Category, FAQQuerySet, main_language
from faqs.models.parts import FAQSource, Phrasing
from faqs.models.similar_pairs import SimilarPair
from faqs.models.vectors import FAQVector
from faqs.models.versions import FAQVersion

__all__ = [
    "FAQ",
    "SOON",
    "Category",
    "FAQQuerySet",
    "FAQSource",
    "FAQVector",
    "FAQVersion",
    "Phrasing",
    "SimilarPair",
    "main_language",
]
