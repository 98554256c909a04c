"""An office says when it is there, and by when it replies."""

import datetime
from zoneinfo import ZoneInfo

import pytest
from django.utils import timezone

from chat.cases.hours import describe_hours, is_open, reply_due
from chat.models import Office, OfficeHours
from tests.factories import AssistantFactory

pytestmark = pytest.mark.django_db
#: A Tuesday in the server's time zone.
DAY = datetime.date(2026, 11, 24)


def at(hour: int, minute: int = 0, *, days: int = 0) -> datetime.datetime:
    here = datetime.datetime.combine(DAY + datetime.timedelta(days=days), datetime.time(hour, minute))
    return timezone.make_aware(here)


@pytest.fixture
def office() -> Office:
    """Provide an office with hours on Tuesday (morning and afternoon) and Thursday."""
    made = Office.objects.create(assistant=AssistantFactory(), name="Housing", reply_days=1)
    for weekday, opens, closes in ((1, 9, 12), (1, 14, 16), (3, 9, 12)):
        OfficeHours.objects.create(
            office=made, weekday=weekday, opens=datetime.time(opens), closes=datetime.time(closes)
        )
    return made


@pytest.mark.parametrize(("hour", "minute", "there"), [(8, 59, False), (9, 0, True), (12, 0, False), (14, 30, True)])
def test_it_is_open_within_its_hours(office: Office, hour: int, minute: int, there: bool) -> None:
    assert is_open(office, at(hour, minute)) is there


def test_it_is_not_open_on_a_day_on_which_it_is_closed(office: Office) -> None:
    office.closed_on = [DAY]
    assert not is_open(office, at(10))


def test_it_replies_by_the_end_of_the_next_day_with_hours(office: Office) -> None:
    assert reply_due(office, at(10)) == at(12, days=2)


def test_what_comes_after_the_days_hours_counts_from_the_next_day(office: Office) -> None:
    assert reply_due(office, at(16)) == at(16, days=7)


def test_a_holiday_is_no_day_with_hours(office: Office) -> None:
    office.closed_on = [DAY + datetime.timedelta(days=2)]
    assert reply_due(office, at(10)) == at(16, days=7)


def test_it_may_reply_on_the_same_day(office: Office) -> None:
    office.reply_days = 0
    assert reply_due(office, at(10)) == at(16)


def test_without_hours_it_works_on_weekdays_and_says_no_hours(office: Office) -> None:
    office.hours.all().delete()
    assert reply_due(office, at(10, days=3)) == at(17, days=6)
    assert describe_hours(office) == []
    assert not is_open(office, at(10))


def test_an_office_that_is_closed_for_good_still_names_a_day(office: Office) -> None:
    office.closed_on = [DAY + datetime.timedelta(days=days) for days in range(200)]
    assert reply_due(office, at(10)) > at(10)


def test_hours_are_said_a_line_a_day(office: Office) -> None:
    assert describe_hours(office) == ["Tuesday: 09:00–12:00, 14:00–16:00", "Thursday: 09:00–12:00"]


def test_times_are_those_of_the_server_whatever_zone_is_given(office: Office) -> None:
    assert is_open(office, at(10).astimezone(ZoneInfo("America/New_York")))
