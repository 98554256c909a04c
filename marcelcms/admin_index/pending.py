"""Open tasks in a sentence each, those of many lists counted in one query, and the addresses of their lists."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlencode

from django.contrib.auth import get_user_model
from django.db.models import Count, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce
from django.urls import reverse
from django.utils import timezone

if TYPE_CHECKING:
    from django.contrib.auth.models import User

#: A failed job is shown for so many days, today included.
NEWS_DAYS = 7


@dataclass(frozen=True, slots=True)
class PendingItem:
    """One open task in a sentence, and the list of exactly the rows it counts; `url` is empty if there is no list."""

    text: str
    url: str = ""


@dataclass(frozen=True, slots=True)
class PendingCount:
    """Rows to count together with others; `said` gets their number, and is called only if there are any."""

    rows: "QuerySet[Any]"
    said: Callable[[int], str]
    url: str


def count_pending(groups: Mapping[str, Sequence[PendingCount]], user: "User") -> dict[str, list[PendingItem]]:
    """Count the rows of every group in one query; return a sentence for each that has any."""
    names = {f"{group}{place}": each for group, parts in groups.items() for place, each in enumerate(parts)}
    counts: dict[str, int] = {}
    if names:
        columns = {name: _count(each.rows) for name, each in names.items()}
        counts = cast("dict[str, int]", get_user_model().objects.filter(pk=user.pk).values(**columns).get())
    return {
        group: [
            PendingItem(each.said(count) % count, each.url)
            for place, each in enumerate(parts)
            if (count := counts[f"{group}{place}"])
        ]
        for group, parts in groups.items()
    }


def _count(rows: "QuerySet[Any]") -> Coalesce:
    every = rows.order_by().annotate(one=Value(1)).values("one").annotate(count=Count("pk"))
    return Coalesce(Subquery(every.values("count")), 0)


def list_url(screen: str, **filters: object) -> str:
    """Return the address of an admin list with these filters."""
    address = reverse(f"admin:{screen}_changelist")
    return f"{address}?{urlencode(filters)}" if filters else address


def to_do_url(**filters: str) -> str:
    """Return the address of the inbox with these filters."""
    return f"{reverse('to-do')}?{urlencode(filters)}"


def news_start() -> datetime:
    """Return a midnight, so that a list that is opened later in the day holds the same rows."""
    day = timezone.localdate() - timedelta(days=NEWS_DAYS - 1)
    return timezone.make_aware(datetime.combine(day, time.min))
