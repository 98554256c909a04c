"""Presence: who has a review open, so that two of the staff do not judge the same answer unawares."""

from datetime import timedelta

from django.contrib.auth.models import AbstractBaseUser
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from analytics.models import Review, ReviewReader

#: A page says every 30 seconds that it is still open (review_queue.js).
PRESENT = timedelta(seconds=75)


def note_reader(review_id: int, user: AbstractBaseUser) -> None:
    """Record that the reader has the review open."""
    ReviewReader.objects.bulk_create(
        [ReviewReader(review_id=review_id, user_id=user.pk, seen_at=timezone.now())],
        update_conflicts=True,
        unique_fields=["review", "user"],
        update_fields=["seen_at"],
    )


def forget_reader(review_id: int, user: AbstractBaseUser) -> None:
    """Record that the reader has closed the review."""
    ReviewReader.objects.filter(review=review_id, user_id=user.pk).delete()


def others_reading(review_id: int, user: AbstractBaseUser) -> list[str]:
    """Return the names of others who have it open."""
    present = ReviewReader.objects.filter(review=review_id, seen_at__gte=timezone.now() - PRESENT)
    readers = present.exclude(user_id=user.pk).select_related("user").order_by("user__username")
    return [reader.user.get_full_name() or reader.user.get_username() for reader in readers]


def left_to(reviews: QuerySet[Review], user: AbstractBaseUser) -> QuerySet[Review]:
    """Return the reviews that no other has taken or has open."""
    present = ReviewReader.objects.filter(review=OuterRef("pk"), seen_at__gte=timezone.now() - PRESENT)
    free = reviews.filter(Q(assigned_to=None) | Q(assigned_to=user.pk))
    return free.filter(~Exists(present.exclude(user_id=user.pk)))
