"""Erases what goes with a review that is deleted."""

from typing import Any

from analytics.models import Review


def forget_with_review(instance: Review, **_kwargs: Any) -> None:
    """Delete what was confirmed of a question with the question: it is made of a student's words."""
    if instance.confirmed:
        # Every process connects this at its start; few delete reviews.
        from faqs.services import forget_question

        forget_question(question=instance.confirmed)
