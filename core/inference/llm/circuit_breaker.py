"""A circuit breaker (Nygard 2007): after repeated failures an endpoint is not called for a while."""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

logger = logging.getLogger(__name__)

FAILURES = 5
OPEN_SECONDS = 15.0


class CircuitOpen(Exception):
    """The endpoint is not called for now."""


class Circuit:
    """Opens after FAILURES in a row, lets one call try after OPEN_SECONDS, and closes when a call succeeds.

    Safe between threads. `clock` counts seconds and never goes back.
    """

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._lock = clock, threading.Lock()
        self._failures = 0
        self._opened_at: float | None = None
        self._is_tried = False

    @property
    def is_open(self) -> bool:
        """Return whether a call would be refused now."""
        with self._lock:
            return self._refuses()

    @property
    def has_failed(self) -> bool:
        """Return whether the circuit opened and no call has succeeded since."""
        with self._lock:
            return self._opened_at is not None

    @contextmanager
    def attempt(self) -> Iterator["Attempt"]:
        """Guard one call; raises CircuitOpen. A call that reports nothing counts neither as success nor as failure."""
        with self._lock:
            if self._refuses():
                raise CircuitOpen
            self._is_tried = is_trial = self._opened_at is not None
        attempt = Attempt(self, is_trial=is_trial)
        try:
            yield attempt
        finally:
            attempt.end()

    def _refuses(self) -> bool:
        return self._opened_at is not None and (self._is_tried or self._clock() < self._opened_at + OPEN_SECONDS)

    def _close(self) -> None:
        with self._lock:
            if self._opened_at is not None:
                logger.warning("circuit closed")
            self._failures, self._opened_at, self._is_tried = 0, None, False

    def _count(self, code: str, *, is_trial: bool) -> None:
        with self._lock:
            self._failures += 1
            is_closed = self._opened_at is None
            if is_trial or (is_closed and self._failures >= FAILURES):
                logger.warning("circuit opened code=%s failures=%d", code, self._failures)
                self._opened_at, self._is_tried = self._clock(), False

    def _give_trial_back(self) -> None:
        with self._lock:
            self._is_tried = False


class Attempt:
    """One call that the circuit allowed."""

    def __init__(self, circuit: Circuit, *, is_trial: bool) -> None:
        self._circuit, self.is_trial = circuit, is_trial
        self._is_heard = self._is_reported = False

    def heard(self) -> None:
        """Report that the endpoint answers: a trial need not wait for the end, others may still fail."""
        self._is_heard = True
        if self.is_trial:
            self.is_trial = False
            self._circuit._close()

    def succeeded(self) -> None:
        self._is_reported, self.is_trial = True, False
        self._circuit._close()

    def failed(self, code: str) -> None:
        self._is_reported = True
        self._circuit._count(code, is_trial=self.is_trial)

    def end(self) -> None:
        if self._is_reported:
            return
        if self._is_heard:
            self._circuit._close()
        elif self.is_trial:
            self._circuit._give_trial_back()
