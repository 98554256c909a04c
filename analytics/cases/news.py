"""Tells staff of cases that come, go on or wait too long."""

from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from analytics.inbox.notices import notify_of_case
from analytics.models import Notice
from chat.cases.messages import lock_case
from chat.models import Case
from chat.services.office_cases import set_state
from core.db.locks import Lock, advisory_lock

#: Cases in which the student has not answered for so long are closed; a message opens them again.
QUIET = timedelta(days=14)
#: Cases of one run.
AT_ONCE = 200


def tell_of_case(case_id: int, kind: str) -> None:
    """Tell who looks after the case, or who may; nobody if it was deleted or answered meanwhile."""
    case = Case.objects.select_related("office").filter(pk=case_id).first()
    if case is not None and case.state == Case.State.OPEN:
        notify_of_case(case, kind)


def raise_late_cases() -> int:
    """Raise open cases whose reply is overdue, and tell staff once; return how many."""
    with advisory_lock(Lock.CASES) as is_held:
        if not is_held:
            return 0
        due = Case.objects.waiting().filter(raised_at=None, reply_due__lt=timezone.now())
        found = list(due.select_related("office").order_by("reply_due")[:AT_ONCE])
        for case in found:
            _raise(case)
    return len(found)


@transaction.atomic
def _raise(case: Case) -> None:
    if Case.objects.waiting().filter(pk=case.pk, raised_at=None).update(raised_at=timezone.now()):
        notify_of_case(case, Notice.Kind.LATE_CASE)


def close_quiet_cases() -> int:
    """Close cases in which the student was answered and has been silent since; return how many."""
    quiet = Case.objects.filter(state=Case.State.REPLIED, state_at__lt=timezone.now() - QUIET)
    found = list(quiet.order_by("pk").values_list("pk", flat=True)[:AT_ONCE])
    return sum(_close(pk) for pk in found)


@transaction.atomic
def _close(pk: int) -> bool:
    case = lock_case(pk)
    if case.state != Case.State.REPLIED or case.state_at > timezone.now() - QUIET:
        return False
    set_state(case=case, state=Case.State.CLOSED, by=None)
    return True
