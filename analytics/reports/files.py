"""Files of reports, in a folder below MEDIA_ROOT that is not served, under random names."""

import secrets
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path
from typing import Any
from weakref import WeakSet

from django.conf import settings
from django.core.files.storage import default_storage
from django.db import transaction
from django.db.models import Max, Min, Model, Q, QuerySet
from django.utils import timezone

from analytics.models import StoredReport
from chat.models import Conversation, Message, Visitor
from core.db.locks import Lock, hold_until_commit

State = StoredReport.State
#: A half file that nobody has written to for so long was left by a process that was killed.
ABANDONED = timedelta(hours=1)
HALF = ".part"


def folder() -> Path:
    kept = Path(default_storage.path("reports"))
    kept.mkdir(mode=0o700, parents=True, exist_ok=True)
    return kept


def file_path(stored: StoredReport) -> Path:
    return folder() / f"{stored.token}.{stored.definition['format']}"


def partial_path(stored: StoredReport) -> Path:
    """Return the path of the unfinished file; sheets of Excel wait beside it."""
    return folder() / f"{stored.token}{HALF}"


def passing_file() -> Path:
    """Open a file that is sent right away: its name is deleted as soon as it is open."""
    return folder() / f"{secrets.token_hex(16)}{HALF}"


def drop_files(stored: Iterable[StoredReport]) -> None:
    """Delete the files after the commit; `sweep` deletes those that a killed process leaves."""
    paths = [file_path(each) for each in stored]
    keys = [each.pk for each in stored]

    def drop() -> None:
        for path in paths:
            path.unlink(missing_ok=True)
        StoredReport.objects.filter(pk__in=keys).exclude(state=State.FINISHED).update(has_file=False)

    transaction.on_commit(drop)


def expire() -> int:
    """Delete expired files, and the rows of files that expired as long ago again. Return how many files."""
    now = timezone.now()
    over = list(StoredReport.objects.filter(state=State.FINISHED, expires_at__lte=now))
    with transaction.atomic():
        StoredReport.objects.filter(pk__in=[each.pk for each in over]).update(state=State.EXPIRED)
        drop_files(over)
    forgotten = now - timedelta(days=2 * settings.REPORT_DAYS)
    ended = StoredReport.objects.exclude(state__in=(State.QUEUED, State.RUNNING, State.FINISHED))
    ended.filter(created_at__lt=forgotten, has_file=False).delete()
    return len(over)


def sweep() -> None:
    """Delete what killed processes left: files of reports that ended otherwise, and files without a report."""
    gone = StoredReport.objects.filter(has_file=True).exclude(state__in=(State.RUNNING, State.FINISHED))
    if left := list(gone):
        drop_files(left)
    old = (timezone.now() - ABANDONED).timestamp()
    aged = [path for path in folder().iterdir() if _written(path) < old]
    live = StoredReport.objects.filter(state__in=(State.QUEUED, State.RUNNING, State.FINISHED))
    known = set(live.filter(token__in=[path.name[:32] for path in aged]).values_list("token", flat=True))
    for path in aged:
        if path.name[:32] not in known or path.suffix in (HALF, ".sheet"):
            path.unlink(missing_ok=True)


def _written(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return timezone.now().timestamp()


#: Deletions of many rows at once announce each of them.
_DONE: WeakSet[QuerySet[Any]] = WeakSet()


def forget(sender: type[Model], instance: Model, origin: Any = None, **_kwargs: Any) -> None:
    """Receive `pre_delete` of visitors and conversations, in the transaction that deletes them.

    `origin` is the row or the rows that are deleted.
    """
    if isinstance(origin, QuerySet) and origin.model in (Visitor, Conversation):
        if origin in _DONE:
            return
        _DONE.add(origin)
        forget_messages(_affected_messages(origin.model, origin.order_by().values("pk")))
    elif origin is instance or not isinstance(origin, (Visitor, Conversation)):
        forget_messages(_affected_messages(sender, [instance.pk]))


def forget_messages(messages: QuerySet[Message]) -> None:
    """Delete the files of reports that may hold one of the messages, and cancel those being made."""
    hold_until_commit(Lock.REPORT_ERASURE, shared=True)
    kept = StoredReport.objects.filter(state__in=(State.RUNNING, State.FINISHED))
    if not kept.exists():
        return
    by_assistant: Any = messages.order_by().values_list("conversation__assistant")
    spans = by_assistant.annotate(first=Min("created_at"), last=Max("created_at"))
    may_hold = Q(pk=None)
    for assistant, first, last in spans:
        # Whose assistant was deleted may be in a report of any.
        is_theirs = Q() if assistant is None else Q(is_whole=True) | Q(assistants__contains=[assistant])
        may_hold |= is_theirs & Q(since__lte=last, until__gt=first)
    found = list(kept.filter(may_hold).select_for_update(no_key=True))
    StoredReport.objects.filter(pk__in=[each.pk for each in found]).update(state=State.ERASED)
    drop_files(found)


def _affected_messages(model: type[Model], keys: Any) -> QuerySet[Message]:
    lookup = "conversation__visitor__in" if model is Visitor else "conversation__in"
    return Message.objects.filter(**{lookup: keys})
