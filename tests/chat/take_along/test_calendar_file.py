"""The file that a calendar reads."""

from icalendar import Calendar

from chat.protocol.shapes import Appointment, Source
from chat.take_along.calendar_file import write_calendar

SOURCE = Source(1, "Fees, dates; more", "https://uni.example/fees", "", None, "", checked_on="2026-05-01")


def event_of(appointment: Appointment) -> Calendar:
    (event,) = Calendar.from_ical(write_calendar(appointment, SOURCE, assistant="Lindi")).walk("VEVENT")
    return event


def test_a_day_is_a_whole_day_and_names_its_source() -> None:
    event = event_of(Appointment(1, "You pay until 15 July 2026.", "2026-07-15"))
    assert (event["dtstart"].dt.isoformat(), event["dtend"].dt.isoformat()) == ("2026-07-15", "2026-07-16")
    assert event["url"] == SOURCE.url
    assert "Fees, dates; more https://uni.example/fees" in event["description"]
    assert "2026-05-01" in event["description"]


def test_times_are_those_of_the_assistants_zone() -> None:
    written = write_calendar(Appointment(1, "Send it.", "2026-07-15T12:00"), SOURCE, assistant="Lindi").decode()
    assert "DTSTART;TZID=Europe/Berlin:20260715T120000" in written
    assert "BEGIN:VTIMEZONE" in written
    assert written.isascii()
    assert max(map(len, written.splitlines())) <= 75


def test_opening_hours_return_for_half_a_year() -> None:
    event = event_of(Appointment(1, "Open.", "2026-05-04T09:00", "2026-05-04T17:00", ("MO", "FR")))
    assert event["rrule"]["byday"] == ["MO", "FR"]
    assert event["rrule"]["until"][0].date().isoformat() == "2026-11-02"
