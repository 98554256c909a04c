"""Keeps the counts up to date with the conversations: what changed is counted anew, day by day."""

import datetime
import logging
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from analytics.counts.daily import count_day, find_day_bounds, of_others
from analytics.counts.monthly import sum_month
from analytics.models import ChangedDay, FrozenCounts
from analytics.models.counts import CaseCount, DocumentCount, FAQCount, Spanned, UsageCount
from chat.models import Assistant
from core.db.locks import Lock, advisory_lock

logger = logging.getLogger(__name__)

TABLES = (UsageCount, DocumentCount, FAQCount, CaseCount)
#: Columns that say whose a row is, in one of the tables; a deleted assistant's may be several rows.
WHOSE = ("assistant_id", "site_id", "language", "document_id", "faq_id", "office_id")
NEWCOMERS = ("newcomers", "newcomers_by_hour", "newcomers_by_reason", "newcomers_up", "newcomers_down")


def count_changed() -> int:
    """Count each changed day again and return how many days these are; do nothing if another process counts.

    A change is deleted in the transaction that counts its days, so that a killed process loses none; a month's
    changes go together, so that it is summed once.
    """
    with advisory_lock(Lock.USAGE_COUNTS) as is_mine:
        return _count_changed() if is_mine else 0


def _count_changed() -> int:
    changed = ChangedDay.objects.order_by("day").values_list("day", flat=True).distinct()
    months = groupby(list(changed), key=lambda day: day.replace(day=1))
    return sum(_count(list(days)) for _month, days in months)


@transaction.atomic
def _count(changed: Sequence[datetime.date]) -> int:
    """Count the local days that overlap these days in UTC."""
    # Only the rows that were read here are deleted below: later ones may not be counted yet.
    seen = list(ChangedDay.objects.filter(day__in=changed).values_list("pk", flat=True))
    touched = sorted({local for day in changed for local in local_days(day)})
    for day in touched:
        _replace(day)
    for month in {day.replace(day=1) for day in touched}:
        sum_month(month)
    ChangedDay.objects.filter(pk__in=seen).delete()
    logger.info("days counted days=%d", len(touched))
    return len(touched)


def local_days(day: datetime.date) -> list[datetime.date]:
    """Return the local days that overlap this day in UTC."""
    begins = datetime.datetime.combine(day, datetime.time(), datetime.UTC)
    ends = begins + datetime.timedelta(days=1)
    near = [day + datetime.timedelta(days=offset) for offset in (-1, 0, 1)]
    return [each for each in near if find_day_bounds(each)[0] < ends and find_day_bounds(each)[1] > begins]


def frozen_on(day: datetime.date) -> list[int | None]:
    """Return the assistants whose conversations of that day may be deleted already; their counts stay."""
    return list(FrozenCounts.objects.filter(before__gt=day).values_list("assistant", flat=True))


def _replace(day: datetime.date) -> None:
    frozen = frozen_on(day)
    counted = count_day(day, without=frozen)
    old = Q(span=Spanned.Span.DAY, day=day) & of_others("assistant", frozen)
    tables: Any = zip(TABLES, (counted.usage, counted.documents, counted.faqs, counted.cases), strict=True)
    for table, rows in tables:
        former = table.objects.filter(old)
        if frozen:
            _hold_newcomers(rows, list(former))
        former.delete()
        table.objects.bulk_create(rows)


def _hold_newcomers(rows: Sequence[Spanned], former: Iterable[Spanned]) -> None:
    """Limit the newcomers of a row to those that it had.

    On a day on which another assistant's counts are frozen, somebody may be counted there whose first question is
    deleted by now: the next one would count them again.
    """
    before = defaultdict(list)
    for row in former:
        before[_whose(row)].append(row)
    for row in rows:
        earlier = before[_whose(row)]
        for name in NEWCOMERS:
            if (count := getattr(row, name, None)) is not None:
                setattr(row, name, _no_more(count, [getattr(each, name) for each in earlier]))


def _whose(row: Spanned) -> tuple[Any, ...]:
    return tuple(getattr(row, name, None) for name in WHOSE)


def _no_more(count: Any, before: Sequence[Any]) -> Any:
    """Return the smaller number, or of lists the smaller ones."""
    if isinstance(count, list):
        return [min(each, sum(earlier)) for each, *earlier in zip(count, *before, strict=True)]
    return min(count, sum(before))


def freeze(kept_since: Mapping[int | None, datetime.datetime]) -> None:
    """Count what changed, and freeze the days before `kept_since` of each assistant.

    It is called before conversations without a message since then are deleted.
    It waits for another process that counts.
    """
    with advisory_lock(Lock.USAGE_COUNTS, wait=True):
        _count_changed()
        for assistant, before in kept_since.items():
            _freeze_until(timezone.localtime(before).date() + datetime.timedelta(days=1), assistant)


def hold_frozen(instance: Assistant, **_kwargs: object) -> None:
    """Receive `pre_delete` of assistants: their counts belong to nobody from then on, and stay as they were."""
    if frozen := FrozenCounts.objects.filter(assistant=instance).first():
        _freeze_until(frozen.before, None)


@transaction.atomic
def _freeze_until(day: datetime.date, assistant: int | None) -> None:
    frozen = FrozenCounts.objects.select_for_update().filter(assistant=assistant).first()
    row = frozen or FrozenCounts.objects.create(assistant_id=assistant, before=day)
    if row.before < day:
        row.before = day
        row.save(update_fields=["before"])
