"""Words that carry a number and the time when they were sent; of letters, so that no guard takes them for figures, and
as long as words are."""

import time

LETTERS = "abcdefghijklmnopqrstuvyz"
#: Ten microseconds, on this machine's monotonic clock; it begins anew after half an hour.
UNIT, ROUND = 10_000, len(LETTERS) ** 6


def word(number: int) -> str:
    """End with a blank: words are passed on when they are complete."""
    return f"w{_letters(number, 2)}x{_letters(_now(), 6)} "


def read(word: str) -> tuple[int, float]:
    """Return (number, seconds since it was sent)."""
    number, _, sent = word.strip().removeprefix("w").partition("x")
    return _number(number), (_now() - _number(sent)) % ROUND * UNIT / 1e9


def _now() -> int:
    return time.monotonic_ns() // UNIT % ROUND


def _letters(number: int, count: int) -> str:
    return "".join(LETTERS[number // len(LETTERS) ** place % len(LETTERS)] for place in range(count))


def _number(letters: str) -> int:
    return sum(LETTERS.index(letter) * len(LETTERS) ** place for place, letter in enumerate(letters))
