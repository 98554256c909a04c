"""Words that carry a number and the time when they were sent; of letters, so that no guard takes them for figures."""

import time

LETTERS = "abcdefghij"


def word(number: int) -> str:
    """Ends with a blank: words are passed on when they are complete."""
    return f"w{_letters(number)}x{_letters(time.monotonic_ns() // 1000)} "


def read(word: str) -> tuple[int, float]:
    """(number, seconds on this machine's monotonic clock)."""
    number, _, microseconds = word.strip().removeprefix("w").partition("x")
    return _number(number), _number(microseconds) / 1e6


def _letters(number: int) -> str:
    return "".join(LETTERS[int(digit)] for digit in str(number))


def _number(letters: str) -> int:
    return int("".join(str(LETTERS.index(letter)) for letter in letters))
