"""Waits grow, and end."""

from datetime import timedelta

from chat.webhooks.schedule import WAITS, next_wait


def test_waits_grow_and_vary_by_a_tenth() -> None:
    for attempts, wait in enumerate(WAITS, start=1):
        seen = {next_wait(attempts) for _ in range(50)}
        assert len(seen) > 1
        assert all(each and 0.9 * wait <= each <= 1.1 * wait for each in seen)
    assert list(WAITS) == sorted(WAITS)


def test_after_eight_attempts_nothing_is_tried_again() -> None:
    assert next_wait(7) is not None
    assert next_wait(8) is None
    assert sum(WAITS, timedelta(0)) < timedelta(days=2)
