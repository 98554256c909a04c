"""Spans of a question's way, for OpenTelemetry. Nothing is recorded or loaded unless `record_with` was called.

Attributes are what the code names and counts, never a person's words.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from opentelemetry.trace import Span, Tracer

_tracer: "Tracer | None" = None


def record_with(tracer: "Tracer | None") -> None:
    """Record spans of this process from now on; None ends it."""
    global _tracer
    _tracer = tracer


@contextmanager
def trace(name: str, **attributes: str | int) -> Iterator[None]:
    """Begin a trace, of which `span` and `leaf` become parts."""
    if _tracer is None:
        yield
        return
    with (
        _tracer.start_as_current_span(
            name, attributes=attributes, record_exception=False, set_status_on_exception=False
        ) as begun,
        _failing(begun),
    ):
        yield


@contextmanager
def span(name: str) -> Iterator[None]:
    """Record a step of the present trace, if there is one; steps within become its parts."""
    if not is_traced():
        yield
        return
    with trace(name):
        yield


@contextmanager
def leaf(name: str) -> Iterator[None]:
    """Record a step that has no parts, and may end in another context than it began in, as within a generator."""
    if _tracer is None or not is_traced():
        yield
        return
    begun = _tracer.start_span(name)
    try:
        with _failing(begun):
            yield
    finally:
        begun.end()


def is_traced() -> bool:
    """Return whether the present context belongs to a trace."""
    if _tracer is None:
        return False
    from opentelemetry.trace import get_current_span

    return get_current_span().is_recording()


def note(**attributes: str | int | float | None) -> None:
    """Add what became known to the present span; None is left out."""
    if is_traced():
        from opentelemetry.trace import get_current_span

        get_current_span().set_attributes({name: value for name, value in attributes.items() if value is not None})


@contextmanager
def _failing(begun: "Span") -> Iterator[None]:
    """Mark the span of a failure by the error's type: what it says may quote a person."""
    from opentelemetry.trace import StatusCode

    try:
        yield
    except Exception as error:
        code: Any = getattr(error, "code", None)
        begun.set_status(StatusCode.ERROR, code if isinstance(code, str) else type(error).__name__)
        raise
