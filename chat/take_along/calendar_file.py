"""One appointment as a calendar's file (iCalendar, RFC 5545) that names its source."""

import datetime
import hashlib

from django.utils import timezone
from django.utils.translation import gettext as _
from icalendar import Calendar, Event, vRecur

from chat.protocol.shapes import Appointment, Source

#: Opening hours change: they are put down for so many weeks.
WEEKS = 26
SUMMARY_CHARACTERS = 80


def write_calendar(appointment: Appointment, source: Source, *, assistant: str) -> bytes:
    """Return the file. A day without a time is a whole day; times are those of the assistant's time zone."""
    event = Event()
    named = f"{appointment.begin} {appointment.n} {appointment.label} {source.url}"
    event.add("uid", f"{hashlib.sha256(named.encode()).hexdigest()[:32]}@marcelcms")
    event.add("dtstamp", timezone.now().astimezone(datetime.UTC))
    event.add("summary", _summary(appointment.label))
    event.add("description", "\n\n".join(_description(appointment, source)))
    if source.url:
        event.add("url", source.url)
    if "T" in appointment.begin:
        begin = _moment(appointment.begin)
        event.add("dtstart", begin)
        event.add("dtend", _moment(appointment.end) if appointment.end else begin)
        if appointment.days:
            until = begin + datetime.timedelta(weeks=WEEKS)
            event.add(
                "rrule", vRecur(freq="WEEKLY", byday=list(appointment.days), until=until.astimezone(datetime.UTC))
            )
    else:
        event.add("dtstart", datetime.date.fromisoformat(appointment.begin))
        last = datetime.date.fromisoformat(appointment.end or appointment.begin)
        event.add("dtend", last + datetime.timedelta(days=1))
        event.add("transp", "TRANSPARENT")
    calendar = Calendar()
    calendar.add("prodid", f"-//MarcelCMS//{assistant}//")
    calendar.add("version", "2.0")
    calendar.add_component(event)
    calendar.add_missing_timezones()
    written: bytes = calendar.to_ical()
    return written


def _summary(label: str) -> str:
    return label if len(label) <= SUMMARY_CHARACTERS else f"{label[:SUMMARY_CHARACTERS].rsplit(' ', 1)[0]} …"


def _description(appointment: Appointment, source: Source) -> list[str]:
    lines = [appointment.label, _("Source: %(title)s") % {"title": f"{source.title} {source.url}".strip()}]
    if source.checked_on:
        lines.append(_("The page was checked on %(day)s.") % {"day": source.checked_on})
    lines.append(_("Please look there again: dates can change."))
    return lines


def _moment(written: str) -> datetime.datetime:
    return datetime.datetime.fromisoformat(written).replace(tzinfo=timezone.get_default_timezone())
