"""Notices, every morning, where clearly fewer sampled answers are right than before: by the model, else by staff."""

import datetime

from django.db import transaction
from django.utils import timezone

from analytics.models import QualityDrop
from analytics.quality.figures import Judged, by_night, read_sample
from analytics.quality.statistics import OVER, find_drop
from chat.models import Assistant


def notice_drops() -> list[QualityDrop]:
    """Save a drop for each assistant that has a new one, and return those; end the drops that are over.

    The same drop is noticed once, however long it lasts: another one can only begin after it has ended.
    """
    found = []
    for assistant in Assistant.objects.order_by("pk"):
        judged = read_sample(assistant).watched
        nights = by_night(judged)
        with transaction.atomic():
            Assistant.objects.select_for_update(no_key=True).get(pk=assistant.pk)
            going_on = QualityDrop.objects.filter(assistant=assistant, ended_at=None)
            if going_on.exists():
                if find_drop(nights, level=OVER) is None:
                    going_on.update(ended_at=timezone.now())
            elif drop := find_drop(nights):
                made = QualityDrop(assistant=assistant, share=drop.share, share_before=drop.before)
                made.first_day = _first_day(judged, drop.nights)
                made.save()
                found.append(made)
    return found


def _first_day(judged: list[Judged], nights: int) -> datetime.date:
    return sorted({each.day for each in judged})[-nights]
