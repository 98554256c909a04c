"""How time grows with the length of a text, for code that reads what strangers write."""

import time
from collections.abc import Callable


def grows_linearly(work: Callable[[str], object], make: Callable[[int], str], size: int = 20_000) -> bool:
    """Return whether a text four times as long takes less than ten times as long; quadratic time takes sixteen times.

    Where the longer text takes next to no time, the clock says nothing of it, and that is linear enough.
    """
    for _attempt in range(3):
        long = _took(work, make(4 * size))
        if long < 0.02 or long < 10 * max(_took(work, make(size)) for _run in range(3)):
            return True
    return False


def _took(work: Callable[[str], object], text: str) -> float:
    started = time.process_time()
    work(text)
    return time.process_time() - started
