"""Faults come last (`tests.order`), and on a slow machine some of them are left out of `.ci/run`, which says which."""

import os
import time

import pytest

#: Until when a test of a fault may begin, in seconds since the epoch; `.ci/run` sets it.
UNTIL = "FAULTS_UNTIL"


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """Skip a test before its stack is started."""
    if (until := os.environ.get(UNTIL)) and time.time() > float(until):
        pytest.skip('no time is left on this machine: `make test ARGS="-m slow tests/faults"` runs it')
