"""Services of an office for its cases: reply, close, open again, pass on, merge. Each is published to the student.

All take the `version` that the member of staff has seen, and raise OutOfDateCase if another one is stored,
errors.NotFound for a case that was deleted, and errors.Refused for what makes no sense.
"""

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from chat.cases.mail.addresses import move_address
from chat.cases.messages import add_office_message, change, lock_case, wait_anew
from chat.cases.news import case_opened
from chat.errors import Refused
from chat.models import Case, CaseMessage, Office
from chat.services.case_mails import queue_closed_mail, queue_reply_mail
from chat.streaming.cases import publish_on_commit


class OutOfDateCase(Exception):
    """Somebody did something to the case since its page was made; `case` is how it is now."""

    def __init__(self, case: Case) -> None:
        super().__init__(case.pk)
        self.case = case


@transaction.atomic
def reply(
    *, case: int, version: int, text: str, by: AbstractBaseUser, asks_back: bool = False, closes: bool = False
) -> CaseMessage:
    """Reply to the student, in Markdown; a reply may ask back, or close the case."""
    row = _locked(case, version)
    message = add_office_message(case=row, text=text, by=by, asks_back=asks_back, closes=closes)
    queue_reply_mail(message)
    publish_on_commit(row.pk)
    return message


@transaction.atomic
def close(*, case: int, version: int, by: AbstractBaseUser) -> Case:
    """Close the case without a word."""
    row = _locked(case, version)
    set_state(case=row, state=Case.State.CLOSED, by=by)
    return row


@transaction.atomic
def reopen(*, case: int, version: int, by: AbstractBaseUser) -> Case:
    """Have the case wait for the office again."""
    row = _locked(case, version)
    if row.merged_into_id:
        raise Refused("case_merged", _("It was merged into another case: go on there."))
    set_state(case=row, state=Case.State.OPEN, by=by)
    return row


def set_state(*, case: Case, state: Case.State, by: AbstractBaseUser | None) -> None:
    """Close a locked case or open it again, whatever was seen of it."""
    if state == Case.State.CLOSED:
        change(case, by=by, state=state, closed_at=timezone.now(), raised_at=None)
        queue_closed_mail(case)
    else:
        change(case, by=by, state=state, closed_at=None, **wait_anew(case))
    publish_on_commit(case.pk)


@transaction.atomic
def pass_on(*, case: int, version: int, office: Office, by: AbstractBaseUser) -> Case:
    """Give the case to another office of the same assistant, whose staff are told; nobody there looks after it yet."""
    row = _locked(case, version)
    if office.assistant_id != row.assistant_id or not office.is_active:
        raise Refused("unknown_office", _("Choose an office of the list. Nothing was passed on."))
    row.office = office
    change(row, by=by, office=office, assigned_to=None, due_on=None, **wait_anew(row))
    case_opened.send(Case, case=row)
    publish_on_commit(row.pk)
    return row


@transaction.atomic
def merge(*, case: int, version: int, into: Case, by: AbstractBaseUser) -> Case:
    """Merge the case into another one of the same student: what was said goes on there, in the order of time.

    The other one waits for the office if one of the two did, until the time that was promised. With a person in need in
    one of them, both are read by those alone who may.
    """
    row = _locked(case, version)
    target = lock_case(into.pk)
    if target.pk == row.pk or target.conversation_id != row.conversation_id or target.merged_into_id:
        raise Refused("bad_merge", _("Only questions of the same conversation are merged. Nothing was merged."))
    question = CaseMessage.objects.create(case=target, by=CaseMessage.By.STUDENT, text=row.question)
    CaseMessage.objects.filter(pk=question.pk).update(created_at=row.opened_at)
    row.messages.update(case=target)
    move_address(row, target)
    target.shared.add(*row.shared.all())
    change(target, by=by, **_joined(row, target))
    change(row, by=by, state=Case.State.CLOSED, closed_at=timezone.now(), raised_at=None, merged_into=target)
    publish_on_commit(row.pk)
    publish_on_commit(target.pk)
    return target


def _joined(row: Case, target: Case) -> dict[str, object]:
    """Return the values of the case into which the other one is merged."""
    values: dict[str, object] = {}
    if row.state == Case.State.OPEN and target.state != Case.State.OPEN:
        values = {"state": row.state, "closed_at": None, "reply_due": row.reply_due, "raised_at": row.raised_at}
    if row.reason == Case.Reason.HELP != target.reason:
        is_open = Case.State.OPEN in {row.state, target.state}
        values |= {"reason": row.reason, "raised_at": timezone.now() if is_open else None}
    return values


def _locked(case: int, version: int) -> Case:
    row = lock_case(case)
    if row.version != version:
        raise OutOfDateCase(row)
    return row
