"""A gap-detection run from the queue to its end; one at a time."""

import logging
from collections.abc import Callable, Sequence

from analytics.gaps.answered.looks import check_all
from analytics.gaps.clustering import measured_bridge
from analytics.gaps.collect import central_questions, collect
from analytics.gaps.detection import find
from analytics.gaps.labels import SHOWN, name_gently
from analytics.models import Gap, GapRun
from core.db.locks import Lock, advisory_lock
from core.inference.embeddings import EmbeddingUnavailable, get_embedder
from core.inference.llm.client import is_configured
from core.jobs import Heartbeat

logger = logging.getLogger(__name__)

#: New gaps that a language model names in one run.
NAMED_A_RUN = 30
State = GapRun.State


def work_on(run_id: int) -> None:
    """Look for gaps, unless another process does or the run has ended.

    A run whose worker was lost is begun again: what was embedded is there.
    """
    with advisory_lock(Lock.GAPS) as is_mine:
        run = GapRun.objects.filter(pk=run_id).first() if is_mine else None
        # The lock is free, so that a run in the state RUNNING has lost its worker.
        if run is None or not (run.state == State.RUNNING or run.claim()):
            return
        with run.closing(EmbeddingUnavailable), Heartbeat(run) as heartbeat:
            run.finish(found=_find_gaps(heartbeat))


def _find_gaps(heartbeat: Heartbeat) -> int:
    """Do the steps of a run; return how many gaps are new."""
    embedder = get_embedder()
    bridge = measured_bridge(embedder.embed_questions)
    collect(embedder, bridge, progress=heartbeat.step)
    fresh = find(embedder, bridge)
    name_new(fresh, heartbeat.step)
    check_all(heartbeat.step)
    return len(fresh)


def name_new(fresh: Sequence[int], progress: Callable[[int, int], None]) -> None:
    """Name new gaps by the language model, if there is one; others keep their most central question as a name."""
    if not is_configured():
        return
    for done, pk in enumerate(fresh[:NAMED_A_RUN]):
        progress(done, len(fresh[:NAMED_A_RUN]))
        gap = Gap.objects.get(pk=pk)
        name, goes_on = name_gently(central_questions(gap, SHOWN), gap.language)
        if name:
            # Staff may have named it meanwhile.
            unnamed = Gap.objects.filter(pk=pk, named_by=Gap.NamedBy.QUESTION)
            unnamed.update(name=name, named_by=Gap.NamedBy.MODEL)
        if not goes_on:
            return
