"""The mails to students that are to be sent: one for each reply, made in the transaction that saves it."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from chat.models import Case, CaseAddress, CaseMail, CaseMessage

#: While the server is away a mail is tried again after these pauses, and then after the last one each time.
PAUSES = tuple(timedelta(minutes=minutes) for minutes in (1, 2, 4, 8, 15))
#: Where the server got a mail and did not say whether it delivers it, the student may have it: these are longer.
UNCERTAIN_PAUSES = (timedelta(minutes=15), timedelta(hours=1), timedelta(hours=4), timedelta(hours=12))
GIVE_UP = timedelta(days=3)
#: So long a worker has a mail that it sends, which takes seconds; after it, the worker is taken to have been killed.
LEASE = timedelta(minutes=10)


def add_reply(message: CaseMessage) -> bool:
    """Queue the mail of a message to the student, in its transaction. Return False if the student wants none."""
    address = CaseAddress.objects.mailable().filter(case=message.case_id).first()
    if address is None:
        return False
    CaseMail.objects.get_or_create(message=message, defaults={"address": address, "kind": CaseMail.Kind.REPLY})
    return True


def add_closed(case: Case) -> bool:
    """Queue the mail that a case was closed without a message. Return False if the student wants none."""
    address = CaseAddress.objects.mailable().filter(case=case).first()
    if address is None:
        return False
    CaseMail.objects.create(address=address, kind=CaseMail.Kind.CLOSED)
    return True


def add_missed_replies(address: CaseAddress) -> None:
    """Queue what was written to the student while the address was not yet confirmed."""
    replies = CaseMessage.objects.filter(case=address.case_id, mail=None).exclude(by=CaseMessage.By.STUDENT)
    for message in replies.filter(created_at__gte=address.asked_at):
        CaseMail.objects.create(address=address, kind=CaseMail.Kind.REPLY, message=message)


@transaction.atomic
def claim(now: datetime) -> CaseMail | None:
    """Return the next mail to be sent, which no other worker gets meanwhile; those that are too old are given up."""
    too_old = CaseMail.objects.waiting().filter(created_at__lt=now - GIVE_UP, next_at__lte=now)
    too_old.update(state=CaseMail.State.GIVEN_UP)
    rows = CaseMail.objects.due(now).select_for_update(of=("self",), skip_locked=True)
    mail = rows.select_related("address__case__office", "address__case__assistant", "message").first()
    if mail:
        mail.attempts += 1
        mail.next_at = now + LEASE
        mail.save(update_fields=["attempts", "next_at"])
    return mail


def settle(mail: CaseMail, state: CaseMail.State) -> None:
    """Save what became of a mail."""
    sent_at = timezone.now() if state == CaseMail.State.SENT else None
    CaseMail.objects.filter(pk=mail.pk).update(state=state, sent_at=sent_at)


def postpone(mail: CaseMail, *, pauses: Sequence[timedelta] = PAUSES) -> None:
    """Have a mail tried again after a pause that grows with its attempts."""
    pause = pauses[min(mail.attempts, len(pauses)) - 1]
    CaseMail.objects.filter(pk=mail.pk).update(next_at=timezone.now() + pause)


def describe_mails(case: Case) -> str:
    """Say for staff whether the student gets replies by mail, and what came of the latest; empty if none are wanted."""
    address = CaseAddress.objects.filter(case=case).first()
    if address is None:
        return ""
    if address.unreachable_at:
        return _("The student’s e-mail address cannot be reached. Replies appear in the chat.")
    if address.confirmed_at is None:
        return _("The student has not confirmed the e-mail address yet. Replies appear in the chat.")
    said = {
        CaseMail.State.WAITING: _("The latest reply waits to be sent by e-mail."),
        CaseMail.State.SENT: _("The latest reply was sent by e-mail."),
        CaseMail.State.REFUSED: _("The mail server refused the latest reply. It appears in the chat."),
        CaseMail.State.GIVEN_UP: _("The latest reply could not be sent for three days. It appears in the chat."),
    }
    latest = address.mails.exclude(kind=CaseMail.Kind.CONFIRM).last()
    return said[CaseMail.State(latest.state)] if latest else _("The student gets replies by e-mail too.")
