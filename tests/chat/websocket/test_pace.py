"""A tab that sends more frames than a person can cause waits; others do not."""

import asyncio

import pytest
from django.test import override_settings
from hypothesis import given
from hypothesis import strategies as st
from pytest_django import Settings

from chat.websocket import backpressure
from tests.servers import Server

pytestmark = pytest.mark.usefixtures("pages")


def test_a_tab_that_floods_waits_and_another_does_not(
    server: Server, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    monkeypatch.setattr(backpressure, "BURST", 4)
    monkeypatch.setattr(backpressure, "RATE", 0.001)
    settings.QUESTIONS_PER_MINUTE = 1
    with server.connect() as flooding, server.connect() as other:
        for _ in range(4):
            assert flooding.refused({"type": "nonsense"})["code"] == "unknown_event"
        flooding.send({"type": "nonsense"})
        assert other.refused({"type": "nonsense"})["code"] == "unknown_event"
        assert flooding.quiet()


@given(st.lists(st.floats(0, 20), min_size=1, max_size=300))
@override_settings(QUESTIONS_PER_MINUTE=12)
def test_frames_read_stay_below_a_burst_and_the_rate(pauses: list[float]) -> None:
    now = 0.0
    read: list[float] = []

    async def sleep(seconds: float) -> None:
        nonlocal now
        now += seconds

    async def send_all() -> None:
        nonlocal now
        kept = backpressure.TokenBucket(clock=lambda: now, sleep=sleep)
        for pause in pauses:
            now += pause
            await kept.acquire()
            read.append(now)

    asyncio.run(send_all())
    for first in range(0, len(read), 7):
        window = read[-1] - read[first]
        assert len(read) - first <= backpressure.BURST + backpressure.RATE * window + 1e-6
    assert now <= sum(pauses) + max(0, len(pauses) - backpressure.BURST) / backpressure.RATE + 1e-6
