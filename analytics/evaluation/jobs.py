"""A run from the queue to its end: claimed by one worker, worked on, and closed whatever happens."""

import logging
from collections.abc import Iterator
from datetime import timedelta

from django.utils import timezone
from django.utils.translation import gettext_noop as _

from analytics.evaluation.judge_errors import JudgeUnavailable
from analytics.evaluation.pulse import Cancelled
from analytics.evaluation.regressions import mark_regression
from analytics.evaluation.runner import run
from analytics.models import EvaluationRun
from chat.profiles import UnknownProfile
from knowledge.inference.embedder import EmbeddingUnavailable
from knowledge.inference.reranker import RerankerUnavailable

logger = logging.getLogger(__name__)

State = EvaluationRun.State
ACTIVE = (State.QUEUED, State.RUNNING)
#: A run that says nothing for so long has lost its worker; while it works it says something every second.
LOST = timedelta(minutes=5)
#: A run that nobody began for so long is queued once more: it may have been lost on the way.
UNBEGUN = timedelta(minutes=5)


def work_on(run_id: int) -> None:
    """Works on a run that waits; nothing where it does not, or not any more."""
    claimed = {"state": State.RUNNING, "heartbeat_at": timezone.now()}
    if not EvaluationRun.objects.filter(pk=run_id, state=State.QUEUED).update(**claimed):
        return
    row = EvaluationRun.objects.select_related("evaluation_set").get(pk=run_id)
    try:
        run(row)
        row.refresh_from_db()
        if row.state == State.FINISHED:
            mark_regression(row)
    except Cancelled:
        logger.info("evaluation cancelled run=%d", run_id)
    except (UnknownProfile, EmbeddingUnavailable, RerankerUnavailable, JudgeUnavailable) as error:
        _fail(run_id, str(error))
    except Exception:
        _fail(run_id, _("An error of ours ended it; whoever runs this server finds it in the log."))
        raise


def fail_lost() -> int:
    """Marks the runs whose worker died; returns how many."""
    lost = EvaluationRun.objects.filter(state=State.RUNNING, heartbeat_at__lt=timezone.now() - LOST)
    said = _("Its worker ended before the run did, perhaps because the server was restarted. Run it again.")
    return lost.update(state=State.FAILED, message=said, finished_at=timezone.now())


def unbegun_runs() -> Iterator[int]:
    """Runs that wait for longer than a queue should take, to be queued once more."""
    now = timezone.now()
    waiting = EvaluationRun.objects.filter(state=State.QUEUED, created_at__lt=now - UNBEGUN)
    for run_id in waiting.exclude(heartbeat_at__gte=now - UNBEGUN).order_by("pk").values_list("pk", flat=True):
        if EvaluationRun.objects.filter(pk=run_id, state=State.QUEUED).update(heartbeat_at=now):
            yield run_id


def _fail(run_id: int, message: str) -> None:
    """A run that was cancelled, or is gone, stays so."""
    ended = {"state": State.FAILED, "message": message, "finished_at": timezone.now()}
    EvaluationRun.objects.filter(pk=run_id, state=State.RUNNING).update(**ended)
