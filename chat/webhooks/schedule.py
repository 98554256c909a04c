"""When a delivery is tried again; pure."""

import random
from datetime import timedelta

#: Waits after the first attempt, the second, and so on: the last one is made about 42 hours after the first.
WAITS = (
    timedelta(seconds=5),
    timedelta(minutes=5),
    timedelta(minutes=30),
    timedelta(hours=2),
    timedelta(hours=5),
    timedelta(hours=10),
    timedelta(hours=24),
)
#: Each wait is longer or shorter by up to this share, so that deliveries do not all return at once.
JITTER = 0.1


def next_wait(attempts: int) -> timedelta | None:
    """Return how long to wait after so many attempts; None after the last one."""
    if attempts > len(WAITS):
        return None
    return WAITS[attempts - 1] * random.uniform(1 - JITTER, 1 + JITTER)  # noqa: S311 (nothing secret)
