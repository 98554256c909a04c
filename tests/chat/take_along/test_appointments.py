"""Dates that an answer names, as appointments."""

import datetime

import pytest

from chat.protocol.shapes import Appointment, Source
from chat.take_along.appointments import find_appointments

TODAY = datetime.date(2026, 5, 4)  # a Monday
FEES = Source(1, "Fees", "https://uni.example/fees", "", None, "")
WINTER = Source(2, "Dates of the winter semester 2026/27", "https://uni.example/dates", "", None, "")


def read(text: str) -> list[tuple[str, str]]:
    return [(each.begin, each.end) for each in find_appointments(text, [FEES, WINTER], today=TODAY)]


@pytest.mark.parametrize(
    ("sentence", "begin", "end"),
    [
        ("You pay until 15 July 2026 [1].", "2026-07-15", ""),
        ("Sie zahlen bis zum 15. Juli 2026 [1].", "2026-07-15", ""),
        ("Sie zahlen bis zum 15.07.2026 [1].", "2026-07-15", ""),
        ("It ends on July 15th, 2026 [1].", "2026-07-15", ""),
        ("It ends on 2026-07-15 [1].", "2026-07-15", ""),
        ("It is open from 1 June to 15 July 2026 [1].", "2026-06-01", "2026-07-15"),
        ("Die Frist läuft vom 1. Dezember 2026 bis 15. Januar 2027 [1].", "2026-12-01", "2027-01-15"),
        ("From 1 December to 15 January 2027 [1].", "2026-12-01", "2027-01-15"),
        ("Send it by 15 July 2026, 12:00 [1].", "2026-07-15T12:00", ""),
        ("Bis zum 15. Juli 2026, 23.59 Uhr [1].", "2026-07-15T23:59", ""),
        ("The talk is on 15 July 2026, 10:00 to 11:30 [1].", "2026-07-15T10:00", "2026-07-15T11:30"),
        ("The talk is on 15 July 2026 from 2 to 4 p.m. [1].", "2026-07-15T14:00", "2026-07-15T16:00"),
        ("Am 15. Juli 2026 von 10 bis 12 Uhr [1].", "2026-07-15T10:00", "2026-07-15T12:00"),
    ],
)
def test_dates_are_read_in_both_languages(sentence: str, begin: str, end: str) -> None:
    assert read(sentence) == [(begin, end)]


@pytest.mark.parametrize(
    "sentence",
    [
        "You pay until 15 July [1].",  # of which year?
        "You paid until 15 July 2025 [1].",
        "It costs 15.07 euros [1].",
        "On 31 February 2027 [1].",
        "You pay until 15 July 2026.",  # no source
        "By 15 July [2].",  # before the semester, so of this year or the next
        "There are 12 may be more [1].",
    ],
)
def test_what_is_not_clear_or_over_is_not_offered(sentence: str) -> None:
    assert read(sentence) == []


def test_a_date_without_a_year_is_of_the_period_that_its_page_is_about() -> None:
    assert read("Lectures end on 5 February [2].") == [("2027-02-05", "")]
    assert read("Vorlesungsfrei ist vom 21. Dezember bis 3. Januar [2].") == [("2026-12-21", "2027-01-03")]


def test_an_item_without_a_number_belongs_to_the_source_before_it() -> None:
    found = find_appointments("You pay [1]:\n\n- until **15 July 2026**\n- later", [FEES], today=TODAY)
    assert found == (Appointment(1, "until 15 July 2026", "2026-07-15"),)


@pytest.mark.parametrize(
    ("sentence", "days"),
    [
        ("The desk is open Monday to Friday, 9:00 to 17:00 [1].", ("MO", "TU", "WE", "TH", "FR")),
        ("Geöffnet Di–Do 9–17 Uhr [1].", ("TU", "WE", "TH")),
        ("Mittwochs von 9 bis 17 Uhr [1].", ("WE",)),
    ],
)
def test_opening_hours_return_each_week(sentence: str, days: tuple[str, ...]) -> None:
    (found,) = find_appointments(sentence, [FEES], today=TODAY)
    assert found.days == days
    assert (found.begin[10:], found.end[10:]) == ("T09:00", "T17:00")
    assert found.begin[:10] == {"MO": "2026-05-04", "TU": "2026-05-05", "WE": "2026-05-06"}[days[0]]
