"""Prometheus instruments of this process, for answers.

Labels take few values, which the code names: never a path, an id, or anybody's words. One observation costs
microseconds.
"""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from prometheus_client import Counter, Gauge, Histogram, disable_created_metrics

from core.telemetry.tracing import leaf

disable_created_metrics()  # type: ignore[no-untyped-call]

#: Seconds; a step of retrieval takes milliseconds, a language model seconds.
QUICK = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5)
SLOW = (0.05, 0.1, 0.25, 0.5, 1, 2, 3, 5, 8, 13, 21, 34, 60, 120)

ANSWERS = Counter(
    "marcelcms_answers", "Finished answers by how they ended and how they were made.", ["status", "strategy", "notice"]
)
ANSWER_SECONDS = Histogram(
    "marcelcms_answer_seconds", "From the question to the end of its answer.", ["strategy"], buckets=SLOW
)
FIRST_TOKEN_SECONDS = Histogram(
    "marcelcms_first_token_seconds", "From the question to the first word of its answer.", ["strategy"], buckets=SLOW
)
RETRIEVAL_SECONDS = Histogram(
    "marcelcms_retrieval_seconds", "Retrieval and its steps; `retrieval` is the whole.", ["step"], buckets=QUICK
)
MODEL_SECONDS = Histogram(
    "marcelcms_llm_seconds", "Calls of the language model, from their turn to their end.", ["outcome"], buckets=SLOW
)
SOCKETS = Gauge("marcelcms_sockets", "Open websockets of this process.")
REQUEST_SECONDS = Histogram(
    "marcelcms_http_request_seconds",
    "HTTP requests, to the first byte of the reply.",
    ["route", "method", "status"],
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
)
#: Entries in an answer's `timings_ms` that are no steps of retrieval.
NOT_STEPS = frozenset({"understood", "first_token", "total"})


def count_answer(*, status: str, strategy: str, notice: str, timings_ms: Mapping[str, float] | None) -> None:
    """Count one finished answer, whatever its status; `timings_ms` as in its row."""
    ANSWERS.labels(status, strategy, notice).inc()
    for step, milliseconds in (timings_ms or {}).items():
        if step == "total":
            ANSWER_SECONDS.labels(strategy).observe(milliseconds / 1000)
        elif step == "first_token":
            FIRST_TOKEN_SECONDS.labels(strategy).observe(milliseconds / 1000)
        elif step not in NOT_STEPS:
            RETRIEVAL_SECONDS.labels(step).observe(milliseconds / 1000)


@contextmanager
def model_call() -> Iterator[None]:
    """Measure a call whose turn it is.

    Its outcome is `ok`, the code of what it raises, or `abandoned` if the caller stopped waiting.
    """
    started, outcome = time.perf_counter(), "abandoned"
    try:
        with leaf("language model"):
            yield
        outcome = "ok"
    except Exception as error:
        outcome = str(getattr(error, "code", "error"))
        raise
    finally:
        MODEL_SECONDS.labels(outcome).observe(time.perf_counter() - started)
