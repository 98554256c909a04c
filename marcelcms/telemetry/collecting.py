"""Figures that are looked up when Prometheus asks: queues, tasks, signs of life, the index.

Those of queues and tasks are everybody's, not this process's: every web process gives the same ones.
"""

import logging
from collections.abc import Iterator

from django.db import Error as DatabaseError
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from redis import RedisError

from knowledge.inference import chat_model
from marcelcms import signs_of_life
from marcelcms.health.probes import changes_behind, index
from marcelcms.telemetry.tasks import task_figures

logger = logging.getLogger(__name__)


class Looked:
    """A collector of prometheus_client: `collect` may be called from any thread. What cannot be reached is left out."""

    def collect(self) -> Iterator[Metric]:
        yield GaugeMetricFamily(
            "marcelcms_llm_failing", "1 while the language model is left alone.", value=float(chat_model.has_failed())
        )
        try:
            yield from _of_valkey()
        except RedisError as error:
            logger.warning("figures of valkey left out error=%s", type(error).__name__)
        try:
            yield from _of_index()
        except DatabaseError as error:
            logger.warning("figures of the database left out error=%s", type(error).__name__)

    def describe(self) -> list[Metric]:
        """Nothing: registering must not look anything up."""
        return []


def _of_valkey() -> Iterator[Metric]:
    depth = GaugeMetricFamily("marcelcms_queue_depth", "Tasks that wait for a worker.", labels=["queue"])
    for queue, waiting in signs_of_life.depths().items():
        depth.add_metric([queue], waiting)
    yield depth
    names = [signs_of_life.BEAT, *map(signs_of_life.worker_of, signs_of_life.queues())]
    sign = GaugeMetricFamily("marcelcms_sign_age_seconds", "Since the last sign of life.", labels=["of"])
    for name, age in signs_of_life.seconds_since(names).items():
        if age is not None:
            sign.add_metric([name], age)
    yield sign
    count = CounterMetricFamily("marcelcms_tasks", "Tasks that workers ended, by how.", labels=["task", "state"])
    seconds = CounterMetricFamily("marcelcms_task_seconds", "Seconds that they took.", labels=["task", "state"])
    for labels, (number, spent) in task_figures().items():
        count.add_metric(labels, number)
        seconds.add_metric(labels, spent)
    yield count
    yield seconds


def _of_index() -> Iterator[Metric]:
    yield GaugeMetricFamily(
        "marcelcms_index_oldest_change_seconds",
        "How long the oldest change waits for the index.",
        value=index().figures["oldest_change_seconds"],
    )
    yield GaugeMetricFamily(
        "marcelcms_lexical_changes_behind", "Changes that this process has not taken in yet.", value=changes_behind()
    )
