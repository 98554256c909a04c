"""A gap-detection run from the queue to its end; one at a time."""

import logging
from collections.abc import Callable, Sequence

from analytics.gaps.clustering import measured_bridge
from analytics.gaps.collect import collect
from analytics.gaps.coverage import find_cover, newest_change
from analytics.gaps.detection import find
from analytics.gaps.labels import SHOWN, name_gently
from analytics.models import Gap, GapRun
from analytics.privacy import standalone_text
from chat.models import Message
from core.db.locks import Lock, advisory_lock
from core.inference.embeddings import EmbeddingUnavailable, get_embedder
from core.inference.llm.client import is_configured
from core.inference.reranker import RerankerUnavailable
from core.jobs import Heartbeat
from knowledge.retrieval.scope import UnknownCollection

logger = logging.getLogger(__name__)

#: New gaps that a language model names in one run, and gaps that are looked up again, by priority.
NAMED_A_RUN, LOOKED_UP = 30, 500
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
    check_answered(heartbeat.step)
    return len(fresh)


def central_questions(gap: Gap, count: int) -> list[str]:
    """Return the most central questions of a gap, condensed and anonymised, the most central one first."""
    rows = gap.questions.order_by("-centrality", "pk").values_list("message", flat=True)[:count]
    messages = Message.objects.select_related("answer").in_bulk(list(rows))
    return [standalone_text(messages[pk]) for pk in rows if pk in messages]


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


def check_answered(progress: Callable[[int, int], None]) -> None:
    """Note for the open gaps of the highest priority whether something covers them by now."""
    newest = newest_change()
    unsolved = Gap.objects.filter(state__in=(Gap.State.OPEN, Gap.State.IN_WORK), merged_into=None)
    gaps = list(unsolved.select_related("assistant__profile").order_by("-weight", "pk")[:LOOKED_UP])
    for done, gap in enumerate(gaps):
        progress(done, len(gaps))
        found = None
        asked = central_questions(gap, 1)
        try:
            if asked and newest and newest > gap.last_asked:
                found = find_cover(gap, asked[0])
        except (RerankerUnavailable, UnknownCollection) as error:
            logger.warning("gap not looked up gap=%d reason=%s", gap.pk, type(error).__name__)
            continue
        Gap.objects.filter(pk=gap.pk).update(
            answered_since=found.at if found else None,
            answered_by_faq=found.faq_id if found else None,
            answered_by_document=found.document_id if found else None,
        )
