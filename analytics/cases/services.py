"""Services of the desk: tell staff what students do in cases, in a task, because many may have to be told."""

from typing import Any

from analytics.inbox.notices import end_notices_of_case
from analytics.models import Notice
from analytics.tasks import tell_of_case
from chat.cases.news import case_opened, case_settled, case_written
from chat.models import Case


def connect() -> None:
    """Connect to what students do in cases."""
    case_opened.connect(_tell_of_new_case)
    case_written.connect(_tell_of_message)
    case_settled.connect(_end_notices)


def _tell_of_new_case(case: Case, **_signal: Any) -> None:
    """Tell who may answer; a case of a person in need counts as late from the first minute."""
    is_urgent = case.reason == Case.Reason.HELP
    tell_of_case.delay_on_commit(case.pk, Notice.Kind.LATE_CASE if is_urgent else Notice.Kind.NEW_CASE)


def _tell_of_message(case: Case, **_signal: Any) -> None:
    tell_of_case.delay_on_commit(case.pk, Notice.Kind.CASE_MESSAGE)


def _end_notices(case: Case, **_signal: Any) -> None:
    """Mark the notices of a case as read, once the case no longer waits."""
    end_notices_of_case(case)
