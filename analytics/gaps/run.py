"""A look for gaps from the queue to its end: one at a time, closed whatever happens."""

import logging
import time
from collections.abc import Sequence
from datetime import timedelta

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext_noop as _

from analytics.gaps.clustering import measured_bridge
from analytics.gaps.collect import collect
from analytics.gaps.coverage import cover_of, newest_change
from analytics.gaps.detection import find
from analytics.gaps.labels import SHOWN, name_gently
from analytics.models import Gap, GapRun
from analytics.privacy import standalone_text
from chat.models import Message
from core.db.locks import Lock, advisory_lock
from core.inference.embeddings import EmbeddingUnavailable, get_embedder
from core.inference.llm.client import is_configured
from core.inference.reranker import RerankerUnavailable
from knowledge.retrieval.scope import UnknownCollection

logger = logging.getLogger(__name__)

#: New gaps that a language model names in one look, and gaps that are looked up again: the weightiest.
NAMED_A_LOOK, LOOKED_UP = 30, 500
#: A look that says nothing for so long has lost its worker.
LOST = timedelta(minutes=5)
#: The steps of a look tell that it lives no more often than this.
SECONDS = 1.0
State = GapRun.State
ACTIVE = (State.QUEUED, State.RUNNING)


def begin_run(requested_by_id: int | None = None) -> GapRun | None:
    """A look that waits, or None where one waits or goes on already."""
    try:
        with transaction.atomic():
            return GapRun.objects.create(requested_by_id=requested_by_id)
    except IntegrityError:
        return None


def work_on(run_id: int) -> None:
    """Looks for gaps; nothing where another process does, or the look has ended. It may be begun again after a
    worker was lost: what was embedded is there."""
    with advisory_lock(Lock.GAPS) as is_mine:
        run = GapRun.objects.filter(pk=run_id, state__in=ACTIVE).first() if is_mine else None
        if run is None:
            return
        _save(run, state=State.RUNNING)
        try:
            _look(run)
        except EmbeddingUnavailable as error:
            _save(run, state=State.FAILED, message=str(error), finished_at=timezone.now())
        except Exception:
            said = _("An error of ours ended it; whoever runs this server finds it in the log.")
            _save(run, state=State.FAILED, message=said, finished_at=timezone.now())
            raise


def lost_runs() -> list[int]:
    """Looks whose worker died, or that nobody began, to be queued once more."""
    now = timezone.now()
    silent = GapRun.objects.filter(state__in=ACTIVE, created_at__lt=now - LOST).exclude(heartbeat_at__gte=now - LOST)
    found = list(silent.values_list("pk", flat=True))
    GapRun.objects.filter(pk__in=found).update(heartbeat_at=now)
    return found


def _look(run: GapRun) -> None:
    beat = _Beat(run)
    embedder = get_embedder()
    bridge = measured_bridge(embedder.embed_questions)
    collect(embedder, bridge, progress=beat)
    fresh = find(embedder, bridge)
    name_new(fresh, beat)
    check_answered(beat)
    _save(run, state=State.FINISHED, found=len(fresh), finished_at=timezone.now())


class _Beat:
    """Gets (done, of), and writes it down no more often than once a second."""

    def __init__(self, run: GapRun) -> None:
        self._run, self._written = run, 0.0

    def __call__(self, done: int, total: int) -> None:
        if time.monotonic() - self._written >= SECONDS:
            _save(self._run, done=done, total=total)
            self._written = time.monotonic()


def _save(run: GapRun, **values: object) -> None:
    run.heartbeat_at = timezone.now()
    for name, value in values.items():
        setattr(run, name, value)
    run.save(update_fields=["heartbeat_at", *values])


def central_questions(gap: Gap, count: int) -> list[str]:
    """As they stand alone, the most central first."""
    rows = gap.questions.order_by("-centrality", "pk").values_list("message", flat=True)[:count]
    messages = Message.objects.select_related("answer").in_bulk(list(rows))
    return [standalone_text(messages[pk]) for pk in rows if pk in messages]


def name_new(fresh: Sequence[int], beat: _Beat) -> None:
    """By the language model, where there is one; a gap that it has no name for keeps its most central question's."""
    if not is_configured():
        return
    for done, pk in enumerate(fresh[:NAMED_A_LOOK]):
        beat(done, len(fresh[:NAMED_A_LOOK]))
        gap = Gap.objects.get(pk=pk)
        name, goes_on = name_gently(central_questions(gap, SHOWN), gap.language)
        if name:
            # Staff may have named it meanwhile.
            unnamed = Gap.objects.filter(pk=pk, named_by=Gap.NamedBy.QUESTION)
            unnamed.update(name=name, named_by=Gap.NamedBy.MODEL)
        if not goes_on:
            return


def check_answered(beat: _Beat) -> None:
    """Says of the weightiest gaps that staff have not closed whether something covers them since."""
    newest = newest_change()
    unsolved = Gap.objects.filter(state__in=(Gap.State.OPEN, Gap.State.IN_WORK), merged_into=None)
    gaps = list(unsolved.select_related("assistant__profile").order_by("-weight", "pk")[:LOOKED_UP])
    for done, gap in enumerate(gaps):
        beat(done, len(gaps))
        found = None
        asked = central_questions(gap, 1)
        try:
            if asked and newest and newest > gap.last_asked:
                found = cover_of(gap, asked[0])
        except (RerankerUnavailable, UnknownCollection) as error:
            logger.warning("gap not looked up gap=%d reason=%s", gap.pk, type(error).__name__)
            continue
        Gap.objects.filter(pk=gap.pk).update(
            answered_since=found.at if found else None,
            answered_by_faq=found.faq_id if found else None,
            answered_by_document=found.document_id if found else None,
        )
