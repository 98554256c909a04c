"""Signs of life of what takes long."""

import threading

import pytest
from django.db import OperationalError

from core.jobs import beating


def test_a_database_that_is_away_for_a_moment_ends_no_signs_of_life(caplog: pytest.LogCaptureFixture) -> None:
    beats: list[int] = []
    again = threading.Event()

    def beat() -> None:
        beats.append(1)
        if len(beats) == 1:
            raise OperationalError("the connection is closed")
        again.set()

    with beating(beat, every=0.01):
        assert again.wait(5)
    assert "OperationalError" in caplog.text
