"""Presence: who has an item or the form of an FAQ open, so that no two of the staff work on it unawares."""

from datetime import timedelta

from django.contrib.auth.models import AbstractBaseUser
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from analytics.inbox.items import Item, about
from analytics.models import Reader, Review
from core.access import name_of
from faqs.models import FAQ

#: A page says every 30 seconds that it is still open (inbox_item.js).
PRESENT = timedelta(seconds=75)


def note_reader(item: Item | FAQ, user: AbstractBaseUser) -> None:
    """Record that the reader has the item open."""
    Reader.objects.bulk_create(
        [Reader(**about(item), user_id=user.pk, seen_at=timezone.now())],
        update_conflicts=True,
        unique_fields=[*about(item), "user"],
        update_fields=["seen_at"],
    )


def forget_reader(item: Item | FAQ, user: AbstractBaseUser) -> None:
    """Record that the reader has closed the item."""
    Reader.objects.filter(**about(item), user_id=user.pk).delete()


def others_reading(item: Item | FAQ, user: AbstractBaseUser) -> list[str]:
    """Return the names of others who have it open."""
    present = Reader.objects.filter(**about(item), seen_at__gte=timezone.now() - PRESENT)
    readers = present.exclude(user_id=user.pk).select_related("user").order_by("user__username")
    return [name_of(reader.user) for reader in readers]


def left_to(reviews: QuerySet[Review], user: AbstractBaseUser) -> QuerySet[Review]:
    """Return the reviews that no other has taken or has open."""
    present = Reader.objects.filter(review=OuterRef("pk"), seen_at__gte=timezone.now() - PRESENT)
    free = reviews.filter(Q(assigned_to=None) | Q(assigned_to=user.pk))
    return free.filter(~Exists(present.exclude(user_id=user.pk)))
