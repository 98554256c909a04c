"""Who asked is taken out of a question; what it asks stays."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.gaps.labels import name_after
from analytics.gaps.priority import compute_priority
from analytics.privacy import mask_pii


@pytest.mark.parametrize(
    ("asked", "left"),
    [
        ("Hallo, ich heiße Anna Müller und suche die Frist", "Hallo, ich heiße [name] und suche die Frist"),
        ("Mein Name ist Jürgen von der Heide. Wo?", "Mein Name ist [name]. Wo?"),
        ("My name is Maria de la Cruz, when is the exam?", "My name is [name], when is the exam?"),
        ("my name is john and i need 12 ECTS", "my name is [name] and i need 12 ECTS"),
        ("ich heisse max mustermann, wann ist die Prüfung", "ich heisse [name], wann ist die Prüfung"),
        ("Hi, I am Anna Schmidt, when is it?", "Hi, I am [name], when is it?"),
        ("When does Prof. Dr. Meier-Schulz teach?", "When does Prof. Dr. [name] teach?"),
        ("Wann?\nMit freundlichen Grüßen\nMax Mustermann", "Wann? Mit freundlichen Grüßen [name]"),
        ("write to anna.mueller@students.uni.example please", "write to [e-mail] please"),
        ("anna (at) uni.example", "[e-mail]"),
        ("call +49 6421 28-12345 or 0176/12345678", "call [phone] or [phone]"),
        ("Meine Matrikelnummer lautet 3 456 789, und nun?", "Meine Matrikelnummer lautet [number], und nun?"),
        ("und meine Matrikelnummer ist 3456789", "und meine Matrikelnummer ist [number]"),
        ("student ID: 12-3456, lost", "student ID: [number], lost"),
        ("I am 3456789 and locked out", "I am [number] and locked out"),
        ("Refund to DE89 3704 0044 0532 0130 00?", "Refund to [number]?"),
    ],
)
def test_what_tells_who_asked_is_masked(asked: str, left: str) -> None:
    assert mask_pii(asked) == left


@pytest.mark.parametrize(
    "asked",
    [
        "Wie hoch ist der Beitrag von 318,40 Euro im WiSe 2025/26?",
        "Endet die Frist am 15.07.2026 um 12:00?",
        "Wann ist die Prüfung am 01.02.2026 10:15?",
        "Is it due on 01/02/2026?",
        "Ist die Mensa von 08.00 - 10.00 Uhr offen?",
        "I am German, can I apply?",
        "Ich bin Erasmus Student, was muss ich tun?",
        "Where is room 04012 in building 12?",
        "Was ist das Modul 11-111-1234?",
        "How do I change my name?",
        "Can I take 30 ECTS in 2 semesters?",
        "Is A4 paper sold for 1.50 euros?",
    ],
)
def test_what_is_asked_stays(asked: str) -> None:
    assert mask_pii(asked) == asked


NAMES = st.sampled_from(["Anna Müller", "Jörg Weiß", "Łukasz Nowak", "Mary-Ann O’Neil", "Ali", "Zoë van der Berg"])
WORDS = st.sampled_from(["wann ist die Prüfung", "how do I enrol", "und wo", "I lost my card"])


@given(WORDS, NAMES, st.sampled_from(["Ich heiße {}", "My name is {}", "mein Name ist {}", "Name: {}"]))
def test_no_introduced_name_is_left(words: str, name: str, greeting: str) -> None:
    left = mask_pii(f"{greeting.format(name)}, {words}?")
    assert not any(part in left for part in name.replace("-", " ").split() if part[0].isupper())
    assert left.endswith(f"{words}?")


@given(st.from_regex(r"[a-z]{1,10}(\.[a-z]{1,8})?@[a-z]{2,10}\.(de|org|example)", fullmatch=True), WORDS)
def test_no_address_is_left(address: str, words: str) -> None:
    assert "@" not in mask_pii(f"{words} {address} ?")


@given(st.integers(10**5, 10**10 - 1), WORDS)
def test_no_long_number_is_left(number: int, words: str) -> None:
    assert str(number) not in mask_pii(f"{words} {number} ?")


@given(st.text(max_size=300))
def test_any_text_is_masked_at_once_and_for_good(text: str) -> None:
    once = mask_pii(text)
    assert mask_pii(once) == once
    assert "\n" not in once


def test_a_gap_is_named_without_the_person_and_cut_at_a_word() -> None:
    assert name_after("My name is Anna, where do I park?") == "My name is [name], where do I park?"
    long = name_after("where " * 40)
    assert len(long) <= 102
    assert long.endswith("where …")


# --- weight ---

NOW = datetime(2026, 5, 20, tzinfo=UTC)


def days_ago(days: float) -> datetime:
    return NOW - timedelta(days=days)


def test_a_visitor_counts_once_however_often_they_ask() -> None:
    assert compute_priority([("a", days_ago(1)), ("a", days_ago(2)), ("b", days_ago(1))], now=NOW).visitors == 2


def test_a_visitor_counts_half_after_the_half_life() -> None:
    # Not asked in the last two weeks: no trend.
    assert compute_priority([("a", days_ago(14))], now=NOW).weight == pytest.approx(0.5)
    assert compute_priority([("a", days_ago(28))], now=NOW).weight == pytest.approx(0.25)


def test_what_rises_weighs_more_than_what_falls() -> None:
    rising = compute_priority([("a", days_ago(0)), ("b", days_ago(0)), ("c", days_ago(8))], now=NOW)
    assert (rising.this_week, rising.week_before) == (2, 1)
    recent = 2 + 0.5 ** (8 / 14)
    assert rising.weight == pytest.approx(recent * (1 + 0.5 / 3))


def test_a_clock_ahead_makes_nobody_count_more_than_once() -> None:
    assert compute_priority([("a", NOW + timedelta(days=3))], now=NOW).weight == pytest.approx(1.5)
