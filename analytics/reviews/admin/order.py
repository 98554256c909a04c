"""The list that a review was opened from, in its order: what comes before and after it."""

from copy import copy
from typing import TYPE_CHECKING, Any

from django.contrib.admin.options import IncorrectLookupParameters
from django.db.models import Q, QuerySet
from django.http import HttpRequest, QueryDict

from analytics.inbox.presence import left_to
from analytics.models import Review

if TYPE_CHECKING:
    from django.contrib.auth.models import User

#: Under which name Django's admin hands a list's filters on to the pages of its rows.
FILTERS = "_changelist_filters"
State = Review.State


def review_queue(model_admin: Any, request: HttpRequest) -> QuerySet[Review]:
    """Return the review queue as it is filtered and searched."""
    narrowed = copy(request)
    narrowed.GET = QueryDict(request.GET.get(FILTERS, ""))
    try:
        rows: QuerySet[Review] = model_admin.get_changelist_instance(narrowed).queryset
    except IncorrectLookupParameters:
        rows = model_admin.get_queryset(request).filter(state=State.OPEN)
    return rows


def neighbours(queue: QuerySet[Review], review: Review, request: HttpRequest) -> tuple[int | None, int | None]:
    """Return the ids of the reviews before and after this one, also if it has left the list."""
    listed = QueryDict(request.GET.get(FILTERS, "")).get("state") or State.OPEN
    state = review.state if listed == "all" else listed
    place, pk = review.asked_at, review.pk
    later = Q(state__gt=state) | Q(state=state) & (Q(asked_at__gt=place) | Q(asked_at=place, pk__gt=pk))
    before = queue.filter(later).order_by("state", "asked_at", "pk").values_list("pk", flat=True).first()
    after = _after(queue, state, review).values_list("pk", flat=True).first()
    return before, after


def next_open(queue: QuerySet[Review], review: Review, user: "User") -> int | None:
    """Return the id of the next open review that nobody else has, starting over at the end of the list."""
    free = left_to(queue.filter(state=State.OPEN).exclude(pk=review.pk), user)
    after = _after(free, State.OPEN, review).values_list("pk", flat=True).first()
    return after or free.values_list("pk", flat=True).first()


def _after(queue: QuerySet[Review], state: str, review: Review) -> QuerySet[Review]:
    place, pk = review.asked_at, review.pk
    earlier = Q(asked_at__lt=place) | Q(asked_at=place, pk__lt=pk)
    return queue.filter(Q(state__lt=state) | Q(state=state) & earlier)
