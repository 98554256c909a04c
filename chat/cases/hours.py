"""Hours of an office: whether it is there now, and by when it replies."""

import datetime
from collections.abc import Iterable

from django.utils import timezone
from django.utils.formats import time_format

from chat.models import Office, OfficeHours
from chat.models.offices import Weekday

#: Where an office has no hours, it is taken to work from Monday to Friday, and replies until then.
USUAL_DAYS, USUAL_END = range(5), datetime.time(17)
#: Days that are looked at for the next hours: an office may be closed for weeks.
AHEAD = 120


def is_open(office: Office, now: datetime.datetime | None = None) -> bool:
    """Return whether the office has hours now; one without any hours is never said to be open."""
    here = timezone.localtime(now)
    if here.date() in office.closed_on:
        return False
    return any(
        each.weekday == here.weekday() and each.opens <= here.time() < each.closes for each in office.hours.all()
    )


def reply_due(office: Office, now: datetime.datetime | None = None) -> datetime.datetime:
    """Return the end of the hours by which the office replies to what it gets now.

    What comes after the day's hours counts from the next day with hours on.
    """
    here = timezone.localtime(now)
    ends = _ends(office.hours.all())
    left = office.reply_days
    day, last = here.date(), None
    for _day in range(AHEAD):
        end = ends.get(day.weekday())
        if end and day not in office.closed_on and not (day == here.date() and here.time() >= end):
            last = datetime.datetime.combine(day, end)
            if left == 0:
                break
            left -= 1
        day += datetime.timedelta(days=1)
    return timezone.make_aware(last or datetime.datetime.combine(day, USUAL_END))


def _ends(hours: Iterable[OfficeHours]) -> dict[int, datetime.time]:
    """Return when the last hours of each weekday end."""
    ends: dict[int, datetime.time] = {}
    for each in hours:
        ends[each.weekday] = max(each.closes, ends.get(each.weekday, each.closes))
    return ends or dict.fromkeys(USUAL_DAYS, USUAL_END)


def describe_hours(office: Office) -> list[str]:
    """Say the hours of the week, a line for each day, in the language in use."""
    lines: dict[int, list[str]] = {}
    for each in office.hours.all():
        times = f"{time_format(each.opens, 'H:i')}–{time_format(each.closes, 'H:i')}"
        lines.setdefault(each.weekday, []).append(times)
    return [f"{Weekday(day).label}: {', '.join(times)}" for day, times in sorted(lines.items())]
