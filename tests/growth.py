"""How time grows with the length of a text, for code that reads what strangers write."""

import time
from collections.abc import Callable


def grows_linearly(work: Callable[[str], object], make: Callable[[int], str], size: int = 20_000) -> bool:
    """Whether a text four times as long takes less than ten times as long; quadratic time takes sixteen times.

    What takes next to no time for the longer text is linear enough: the clock says nothing of it.
    """
    for _attempt in range(3):
        short, long = (_quickest(work, make(length)) for length in (size, 4 * size))
        if long < 0.005 or long < 10 * short:
            return True
    return False


def _quickest(work: Callable[[str], object], text: str) -> float:
    took = []
    for _run in range(3):
        started = time.perf_counter()
        work(text)
        took.append(time.perf_counter() - started)
        if took[-1] > 2:
            break
    return min(took)
