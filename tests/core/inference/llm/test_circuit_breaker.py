"""An endpoint that keeps failing is left alone, and tried again by one call at a time."""

import logging

import pytest

from core.inference.llm.circuit_breaker import FAILURES, OPEN_SECONDS, Circuit, CircuitOpen


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def circuit(clock: Clock) -> Circuit:
    return Circuit(clock=clock)


def fail(circuit: Circuit, times: int = 1) -> None:
    for _time in range(times):
        with circuit.attempt() as attempt:
            attempt.failed("timeout")


def succeed(circuit: Circuit) -> None:
    with circuit.attempt() as attempt:
        attempt.succeeded()


def test_it_opens_after_failures_in_a_row(circuit: Circuit) -> None:
    fail(circuit, FAILURES - 1)
    assert not circuit.is_open
    fail(circuit)
    assert circuit.is_open
    with pytest.raises(CircuitOpen), circuit.attempt():
        raise AssertionError


def test_a_success_in_between_starts_the_count_anew(circuit: Circuit) -> None:
    fail(circuit, FAILURES - 1)
    succeed(circuit)
    fail(circuit, FAILURES - 1)
    assert not circuit.is_open


def test_what_says_nothing_about_the_endpoint_counts_neither_way(circuit: Circuit) -> None:
    fail(circuit, FAILURES - 1)
    with circuit.attempt():
        pass
    assert not circuit.is_open
    fail(circuit)
    assert circuit.is_open


def test_after_a_while_one_call_may_try_and_its_success_closes_it(circuit: Circuit, clock: Clock) -> None:
    fail(circuit, FAILURES)
    clock.now = OPEN_SECONDS - 0.1
    assert circuit.is_open
    clock.now = OPEN_SECONDS
    with circuit.attempt() as trial:
        assert trial.is_trial
        with pytest.raises(CircuitOpen), circuit.attempt():
            raise AssertionError
        trial.succeeded()
    fail(circuit, FAILURES - 1)
    assert not circuit.is_open


def test_a_trial_that_is_answered_lets_others_in_before_it_ends(circuit: Circuit, clock: Clock) -> None:
    fail(circuit, FAILURES)
    clock.now = OPEN_SECONDS
    with circuit.attempt() as trial:
        trial.heard()
        succeed(circuit)
        trial.failed("timeout")
    assert not circuit.is_open


def test_a_trial_that_fails_opens_it_for_as_long_again(circuit: Circuit, clock: Clock) -> None:
    fail(circuit, FAILURES)
    clock.now = OPEN_SECONDS
    fail(circuit)
    assert circuit.is_open
    clock.now += OPEN_SECONDS - 0.1
    assert circuit.is_open
    clock.now += 0.1
    succeed(circuit)
    assert not circuit.is_open


def test_a_trial_that_is_given_up_lets_the_next_call_try(circuit: Circuit, clock: Clock) -> None:
    fail(circuit, FAILURES)
    clock.now = OPEN_SECONDS
    with circuit.attempt():
        pass
    assert not circuit.is_open
    with circuit.attempt() as trial:
        assert trial.is_trial


def test_a_call_from_before_it_opened_does_not_end_the_trial_of_another(circuit: Circuit, clock: Clock) -> None:
    with circuit.attempt() as earlier:
        fail(circuit, FAILURES)
        clock.now = OPEN_SECONDS
        with circuit.attempt():
            earlier.failed("timeout")
            assert circuit.is_open
        assert not circuit.is_open  # it may be tried, since the trial said nothing


def test_its_log_names_codes_alone(circuit: Circuit, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        fail(circuit, FAILURES)
    assert [record.getMessage() for record in caplog.records] == [f"circuit opened code=timeout failures={FAILURES}"]
