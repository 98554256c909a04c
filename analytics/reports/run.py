"""A long report from the queue to its end: made by one worker, begun again when that is lost, and always closed."""

import errno
import logging
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import cast

from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import transaction
from django.utils import timezone, translation
from django.utils.translation import gettext_noop as _

from analytics.counts.daily import hours_of
from analytics.models import StoredReport
from analytics.periods import Period
from analytics.reports.audit import log_export
from analytics.reports.content import NothingToTell, make_file
from analytics.reports.definition import Definition
from analytics.reports.files import file_path, partial_path
from analytics.reports.permissions import EXPORT, Rights, rights_for
from core.db.locks import Lock, advisory_lock, hold_until_commit

logger = logging.getLogger(__name__)

State = StoredReport.State
ACTIVE = (State.QUEUED, State.RUNNING)
#: A report that says nothing for so long may have lost its worker, or the way to one.
SILENT = timedelta(minutes=2)
#: Workers that are lost one after the other, perhaps because of it.
ATTEMPTS = 3
SECONDS_BETWEEN = 1.0
ONE_MOMENT = timedelta(microseconds=1)


class Stopped(Exception):
    """Somebody stopped the report, or deleted a conversation that may stand in it."""


def work_on(stored_id: int) -> None:
    """Make the report, unless it is no longer queued or another worker has it."""
    with advisory_lock(Lock.REPORT, row=stored_id) as is_mine:
        if not is_mine or not _begin(stored_id):
            return
        stored = StoredReport.objects.get(pk=stored_id)
        try:
            with translation.override(stored.language):
                _make(stored)
        except Stopped:
            logger.info("report stopped report=%d", stored_id)
        except NothingToTell as error:
            _fail(stored_id, str(error))
        except OSError as error:
            is_full = error.errno in (errno.ENOSPC, errno.EDQUOT) or "ENOSPC" in str(error)
            full = _("The server’s disk is full: nothing was kept. Tell whoever runs this server, then try again.")
            failed = _(
                "The file could not be written: nothing was kept. Whoever runs this server finds why in the log."
            )
            logger.error("report not written report=%d reason=%s", stored_id, error.strerror or type(error).__name__)
            _fail(stored_id, full if is_full else failed)
        except Exception:
            _fail(stored_id, _("An error of ours ended it; whoever runs this server finds it in the log."))
            raise


def lost_reports() -> Iterator[int]:
    """Return reports whose worker died, or that nobody began, to be queued again; they start anew."""
    before = timezone.now() - SILENT
    silent = StoredReport.objects.filter(state__in=ACTIVE, created_at__lt=before).exclude(heartbeat_at__gte=before)
    for stored_id, attempts in list(silent.order_by("pk").values_list("pk", "attempts")):
        with advisory_lock(Lock.REPORT, row=stored_id) as is_lost:
            if not is_lost:  # its worker is packing a large workbook
                continue
            if attempts >= ATTEMPTS:
                _fail(stored_id, _("Its worker was lost several times: choose fewer days, or CSV instead of Excel."))
            elif _update(stored_id, ACTIVE, state=State.QUEUED, done=0):
                yield stored_id


@transaction.atomic
def _begin(stored_id: int) -> int:
    """Wait for running deletions of conversations: later ones find this report and forget it."""
    hold_until_commit(Lock.REPORT_ERASURE)
    stored = StoredReport.objects.filter(pk=stored_id, state=State.QUEUED).select_related("requested_by").first()
    if stored is None:
        return 0
    user = get_user_model().objects.get(pk=stored.requested_by_id)
    if not (user.is_active and user.is_staff and user.has_perm(EXPORT)):
        _fail(stored_id, _("You may not export reports any more."))
        return 0
    definition, rights = Definition.load(stored.definition), rights_for(user)
    period = definition.period()
    own = rights.assistants
    return _update(
        stored_id,
        (State.QUEUED,),
        state=State.RUNNING,
        attempts=stored.attempts + 1,
        since=hours_of(period.first)[0],
        until=hours_of(period.last)[1],
        is_masked=not rights.sees_personal_text,
        smallest=rights.smallest,
        is_whole=rights.is_whole and not definition.assistants,
        assistants=[pk for pk in definition.assistants if rights.is_whole or pk in own] or sorted(own),
    )


def _make(stored: StoredReport) -> None:
    """Make the file with the rights of when it was begun; later changes of rights change nothing in it."""
    definition = Definition.load(stored.definition)
    since, until = cast("tuple[datetime, datetime]", (stored.since, stored.until))  # set when it was begun
    period = Period(timezone.localdate(since), timezone.localdate(until - ONE_MOMENT))
    rights = Rights(not stored.is_masked, stored.smallest, stored.is_whole, frozenset(stored.assistants))
    half, path = partial_path(stored), file_path(stored)
    extent = make_file(half, definition, period, rights, _Beat(stored.pk))
    size = half.stat().st_size
    half.replace(path)
    try:
        with transaction.atomic():
            now = timezone.now()
            ended = {"done": extent.rows, "total": extent.rows, "size": size}
            kept = {"finished_at": now, "expires_at": now + timedelta(days=settings.REPORT_DAYS)}
            _save(stored.pk, state=State.FINISHED, has_file=True, **ended, **kept)
            log_export(stored, stored.requested_by, definition, rights, extent)
    except BaseException:
        path.unlink(missing_ok=True)
        raise


class _Beat:
    """Gets (done, of), and writes it down no more often than once a second; raises Stopped."""

    def __init__(self, stored_id: int) -> None:
        self._stored_id, self._written = stored_id, 0.0

    def __call__(self, done: int, total: int) -> None:
        if time.monotonic() - self._written >= SECONDS_BETWEEN:
            _save(self._stored_id, done=done, total=total)
            self._written = time.monotonic()


def _save(stored_id: int, **values: object) -> None:
    if not _update(stored_id, (State.RUNNING,), **values):
        raise Stopped


def _update(stored_id: int, states: tuple[str, ...], **values: object) -> int:
    """Update the report and its heartbeat; return whether it still exists."""
    rows = StoredReport.objects.filter(pk=stored_id, state__in=states)
    return rows.update(heartbeat_at=timezone.now(), **values)


def _fail(stored_id: int, message: str) -> None:
    _update(stored_id, ACTIVE, state=State.FAILED, message=message, finished_at=timezone.now())
