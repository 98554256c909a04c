"""A long report from the queue to its end: made by one worker, begun again when that is lost, and always closed."""

import errno
import logging
from datetime import datetime, timedelta
from typing import cast

from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import transaction
from django.utils import timezone, translation
from django.utils.translation import gettext_noop as _

from analytics.counts.daily import find_day_bounds
from analytics.models import StoredReport
from analytics.periods import Period
from analytics.reports.audit import log_export
from analytics.reports.content import NothingToTell, make_file
from analytics.reports.definition import Definition
from analytics.reports.files import file_path, partial_path
from analytics.reports.permissions import EXPORT, Rights, rights_for
from core.db.locks import Lock, advisory_lock, hold_until_commit
from core.jobs import Heartbeat

logger = logging.getLogger(__name__)

State = StoredReport.State
ONE_MOMENT = timedelta(microseconds=1)
DISK_FULL = _("The server’s disk is full: nothing was kept. Tell whoever runs this server, then try again.")
NOT_WRITTEN = _("The file could not be written: nothing was kept. Whoever runs this server finds why in the log.")


class NotWritten(Exception):
    """The file could not be written; the message says what to do."""


def work_on(stored_id: int) -> None:
    """Make a report that waits, unless another worker has it."""
    with advisory_lock(Lock.REPORT, row=stored_id) as is_mine:
        begun = _begin(stored_id) if is_mine else None
        if begun is None:
            return
        stored, rights = begun
        with stored.closing(NothingToTell, NotWritten), translation.override(stored.language):
            try:
                _make(stored, rights)
            except OSError as error:
                reason = error.strerror or type(error).__name__
                logger.error("report not written report=%d reason=%s", stored_id, reason)
                is_full = error.errno in (errno.ENOSPC, errno.EDQUOT) or "ENOSPC" in str(error)
                raise NotWritten(DISK_FULL if is_full else NOT_WRITTEN) from error


@transaction.atomic
def _begin(stored_id: int) -> tuple[StoredReport, Rights] | None:
    """Claim a report, and return it with the rights that its file is made with.

    Return None if it does not wait any more or its owner may not export.

    Wait for those who are deleting conversations: what they delete after this, they find this report for.
    """
    hold_until_commit(Lock.REPORT_ERASURE)
    stored = StoredReport.objects.filter(pk=stored_id, state=State.QUEUED).first()
    if stored is None:
        return None
    user = get_user_model().objects.get(pk=stored.requested_by_id)
    if not (user.is_active and user.is_staff and user.has_perm(EXPORT)):
        stored.fail(_("You may not export reports any more."))
        return None
    definition, rights = Definition.load(stored.definition), rights_for(user)
    period = definition.period()
    own = rights.assistants
    is_claimed = stored.claim(
        attempts=stored.attempts + 1,
        since=find_day_bounds(period.first)[0],
        until=find_day_bounds(period.last)[1],
        is_masked=not rights.sees_personal_text,
        smallest=rights.smallest,
        is_whole=rights.is_whole and not definition.assistants,
        assistants=[pk for pk in definition.assistants if rights.is_whole or pk in own] or sorted(own),
    )
    return (stored, rights) if is_claimed else None


def _make(stored: StoredReport, rights: Rights) -> None:
    """Make the file with the rights of when it was begun; later changes of rights change nothing in it."""
    definition = Definition.load(stored.definition)
    since, until = cast("tuple[datetime, datetime]", (stored.since, stored.until))  # set when it was begun
    period = Period(timezone.localdate(since), timezone.localdate(until - ONE_MOMENT))
    half, path = partial_path(stored), file_path(stored)
    with Heartbeat(stored) as heartbeat:
        extent = make_file(half, definition, period, rights, heartbeat.step)
    size = half.stat().st_size
    half.replace(path)
    try:
        with transaction.atomic():
            now = timezone.now()
            ended = {"done": extent.rows, "total": extent.rows, "size": size}
            kept = {"finished_at": now, "expires_at": now + timedelta(days=settings.REPORT_DAYS)}
            stored.finish(has_file=True, **ended, **kept)
            log_export(stored, stored.requested_by, definition, rights, extent)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
