"""Pytest plugin (`-p tests.time_left`): `.ci/run` ends in time on a slow machine too.

What is marked as an extra and would begin after EXTRAS_UNTIL is skipped, and pytest names it. The usual tests all run.
"""

import os
import time

import pytest

#: In seconds since the epoch; `.ci/run` sets it.
EXTRAS_UNTIL = "EXTRAS_UNTIL"
EXTRAS = ("e2e", "slow")


def is_extra(item: pytest.Item) -> bool:
    return any(item.get_closest_marker(name) for name in EXTRAS)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test before what it needs is started."""
    until = os.environ.get(EXTRAS_UNTIL)
    if until and time.time() > float(until) and is_extra(item):
        pytest.skip("no time is left on this machine: run its file alone")
