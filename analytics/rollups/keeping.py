"""Keeps the counts up to date with the conversations: what changed is counted anew, day by day."""

import datetime
import logging
from collections import defaultdict
from collections.abc import Iterable

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from analytics.models import ChangedDay, FrozenCounts
from analytics.models.counts import Counted, DocumentCount, FAQCount, UsageCount
from analytics.rollups.counting import Day, count_day, hours_of, of_others
from analytics.rollups.months import sum_month
from knowledge.locks import only_one

logger = logging.getLogger(__name__)

#: The advisory lock's number, beside those of `knowledge.locks` and `analytics.gaps.looking`.
COUNTING = 0x6D6172636570
#: Changes that are taken at once; the rest comes with the next round.
ROUND = 50_000
TABLES = (UsageCount, DocumentCount, FAQCount)


def count_changed() -> int:
    """Counts anew each day on which something changed; returns how many days. Nothing where another process does.

    A change is forgotten in the transaction that counts its days, so that a killed process loses none.
    """
    days = 0
    with only_one(COUNTING) as is_mine:
        while is_mine and (changes := list(ChangedDay.objects.order_by("pk").values_list("pk", "day")[:ROUND])):
            days += _count(changes)
    return days


def _count(changes: Iterable[tuple[int, datetime.date]]) -> int:
    by_day: dict[datetime.date, list[int]] = defaultdict(list)
    for key, changed in changes:
        by_day[changed].append(key)
    counted: set[datetime.date] = set()
    for changed in sorted(by_day):
        with transaction.atomic():
            touched = [day for day in local_days(changed) if day not in counted]
            for day in touched:
                _replace(day)
            for month in {day.replace(day=1) for day in touched}:
                sum_month(month)
            ChangedDay.objects.filter(pk__in=by_day[changed]).delete()
        counted.update(touched)
    logger.info("days counted days=%d", len(counted))
    return len(counted)


def local_days(day: datetime.date) -> list[datetime.date]:
    """The local days that share a moment with this day in UTC."""
    begins = datetime.datetime.combine(day, datetime.time(), datetime.UTC)
    ends = begins + datetime.timedelta(days=1)
    near = [day + datetime.timedelta(days=offset) for offset in (-1, 0, 1)]
    return [each for each in near if hours_of(each)[0] < ends and hours_of(each)[1] > begins]


def frozen_on(day: datetime.date) -> list[int | None]:
    """Assistants whose conversations of that day may be deleted already: what was counted stays."""
    return list(FrozenCounts.objects.filter(before__gt=day).values_list("assistant", flat=True))


def _replace(day: datetime.date) -> None:
    frozen = frozen_on(day)
    counted: Day = count_day(day, without=frozen)
    old = Q(span=Counted.Span.DAY, day=day) & of_others("assistant", frozen)
    for table in TABLES:
        table.objects.filter(old).delete()
    UsageCount.objects.bulk_create(counted.usage)
    DocumentCount.objects.bulk_create(counted.documents)
    FAQCount.objects.bulk_create(counted.faqs)


@transaction.atomic
def freeze(assistant: int | None, before: datetime.datetime) -> None:
    """Called before conversations of that assistant without a message since `before` are deleted: the days up to then
    are not counted again. Their changes have to be counted before (`count_changed`)."""
    day = timezone.localtime(before).date() + datetime.timedelta(days=1)
    frozen = FrozenCounts.objects.select_for_update().filter(assistant=assistant).first()
    row = frozen or FrozenCounts.objects.create(assistant_id=assistant, before=day)
    if row.before < day:
        row.before = day
        row.save(update_fields=["before"])
