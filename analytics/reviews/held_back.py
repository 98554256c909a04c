"""Notices when clearly more of what the language model writes is held back than before."""

import datetime
import math
from collections import Counter
from dataclasses import dataclass

from django.db import transaction
from django.db.models import F, Q, Sum
from django.utils import timezone

from analytics.counts.daily import find_day_bounds
from analytics.models import HeldBackRise, UsageCount
from analytics.models.counts import Counted
from chat.models import Assistant, HeldBackSentence

RECENT_DAYS, EARLIER_DAYS = 7, 28
#: Sentences that each of the two periods must have.
LEAST_SENTENCES = 100
#: By how much the share must have risen, and how many standard errors that must be.
LEAST_RISE, LEAST_ERRORS = 0.1, 3.0


@dataclass(frozen=True, slots=True)
class Share:
    """Counts of sentences, and of those among them that were held back."""

    held_back: int
    sentences: int

    @property
    def value(self) -> float:
        return self.held_back / self.sentences if self.sentences else 0.0


def has_risen(recent: Share, earlier: Share) -> bool:
    """Return whether the share is clearly above that of before.

    The rule: the last 7 whole days and the 28 days before have 100 sentences each, the share has risen by at least 10
    percentage points, and by at least 3 standard errors of the difference (two-proportion z-test). The 3 instead of the
    usual 2 allow for sentences of one answer, which are often held back together.
    """
    if min(recent.sentences, earlier.sentences) < LEAST_SENTENCES:
        return False
    both = (recent.held_back + earlier.held_back) / (recent.sentences + earlier.sentences)
    error = math.sqrt(both * (1 - both) * (1 / recent.sentences + 1 / earlier.sentences))
    rise = recent.value - earlier.value
    return rise >= LEAST_RISE and rise >= LEAST_ERRORS * error


def has_ended(recent: Share, earlier: Share) -> bool:
    """Return whether a rise is over: less than half of what a rise needs is left, or too few sentences to tell."""
    is_known = min(recent.sentences, earlier.sentences) >= LEAST_SENTENCES
    return not is_known or recent.value - earlier.value < LEAST_RISE / 2


def notice_rises() -> list[HeldBackRise]:
    """Save a rise for each assistant that has a new one, and return those; end the rises that are over.

    The same rise is noticed once, however long it lasts: another one can only begin after it has ended.
    """
    until = timezone.localdate()
    since = until - datetime.timedelta(days=RECENT_DAYS)
    before = since - datetime.timedelta(days=EARLIER_DAYS)
    recent, earlier = _shares(since, until), _shares(before, since)
    found = []
    for assistant in Assistant.objects.order_by("pk"):
        now, then = (shares.get(assistant.pk, Share(0, 0)) for shares in (recent, earlier))
        with transaction.atomic():
            Assistant.objects.select_for_update(no_key=True).get(pk=assistant.pk)
            going_on = HeldBackRise.objects.filter(assistant=assistant, ended_at=None)
            if going_on.exists():
                if has_ended(now, then):
                    going_on.update(ended_at=timezone.now())
            elif has_risen(now, then):
                reason = _most_frequent_reason(assistant, since, until)
                rise = HeldBackRise(assistant=assistant, share=now.value, share_before=then.value, first_day=since)
                rise.reason = reason
                rise.save()
                found.append(rise)
    return found


def _shares(first: datetime.date, after: datetime.date) -> dict[int | None, Share]:
    """Return the share of each assistant on the days from `first` to before `after`."""
    held_back = F("sentences_quoted") + F("sentences_left_out")
    days = UsageCount.objects.filter(Q(sentences_shown__gt=0) | Q(sentences_quoted__gt=0) | Q(sentences_left_out__gt=0))
    rows = days.filter(span=Counted.Span.DAY, day__gte=first, day__lt=after).order_by().values("assistant")
    sums = rows.annotate(held=Sum(held_back), every=Sum(held_back + F("sentences_shown")))
    return {each["assistant"]: Share(each["held"], each["every"]) for each in sums}


def _most_frequent_reason(assistant: Assistant, first: datetime.date, after: datetime.date) -> str:
    start, end = find_day_bounds(first)[0], find_day_bounds(after)[0]
    rows = HeldBackSentence.objects.filter(assistant=assistant, created_at__gte=start, created_at__lt=end)
    counts = Counter(reason for reasons in rows.values_list("reasons", flat=True).iterator() for reason in reasons)
    return min(counts, key=lambda reason: (-counts[reason], reason), default="")
