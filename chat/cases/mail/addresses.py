"""The address of a case: asked for, confirmed by its owner, and taken back."""

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from chat.cases.mail.limits import count_confirmation
from chat.cases.mail.queue import add_missed_replies
from chat.cases.mail.signing import CONFIRM, STOP, read_link
from chat.cases.messages import lock_case
from chat.errors import NotFound, Refused
from chat.models import Case, CaseAddress, CaseMail

#: Of a name before the @ (RFC 5321, 4.5.3.1.1).
LOCAL_CHARACTERS = 64


@transaction.atomic
def change_address(case: Case, email: str) -> None:
    """Ask the owner of another address to confirm it, or delete the address if `email` is empty; `case` is locked.

    The address that is already there stays as it is. Raise Refused, TooMany, and redis.RedisError.
    """
    email = email.strip()
    earlier = CaseAddress.objects.filter(case=case).first()
    if earlier and email and earlier.email.lower() == email.lower() and earlier.unreachable_at is None:
        return
    if email:
        check_address(email)
        count_confirmation(email)
    if earlier:
        earlier.delete()
    if email:
        address = CaseAddress.objects.create(case=case, email=email)
        CaseMail.objects.create(address=address, kind=CaseMail.Kind.CONFIRM)


def move_address(case: Case, target: Case) -> None:
    """Have what is mailed about a case that is merged go on with the other one, unless that has an address itself."""
    if not CaseAddress.objects.filter(case=target).exists():
        CaseAddress.objects.filter(case=case).update(case=target)


def check_address(email: str) -> None:
    """Raise Refused if no mail can be sent there."""
    if not settings.EMAIL_HOST:
        raise Refused("no_mails", _("This service sends no e-mails. Please leave the address empty."))
    try:
        validate_email(email)
    except ValidationError:
        email = ""
    if not email.isascii() or not 0 < len(email.rpartition("@")[0]) <= LOCAL_CHARACTERS:
        raise Refused("wrong_address", _("Please check the e-mail address."))


def find_asked(token: str) -> CaseAddress | None:
    """Return the address that a link asks to confirm, or None if the link holds no more."""
    return _find(CONFIRM, token)


def find_stopped(token: str) -> CaseAddress | None:
    """Return the address that the link of a mail deletes; None if it is deleted already."""
    return _find(STOP, token)


@transaction.atomic
def confirm(token: str) -> CaseAddress | None:
    """Confirm the address of a link, and queue the replies that came before. Return None if it holds no more."""
    address = _find_locked(CONFIRM, token)
    if address and address.confirmed_at is None:
        address.confirmed_at = timezone.now()
        address.save(update_fields=["confirmed_at"])
        add_missed_replies(address)
    return address


@transaction.atomic
def stop(token: str) -> CaseAddress | None:
    """Delete the address of a link, and the mails that wait for it. Return it; None if it was deleted already."""
    address = _find_locked(STOP, token)
    if address:
        CaseAddress.objects.filter(pk=address.pk).delete()
    return address


@transaction.atomic
def mark_unreachable(address_id: int) -> None:
    """Stop mails to an address from which one came back; staff see that, and the student can enter another one."""
    CaseAddress.objects.filter(pk=address_id, unreachable_at=None).update(unreachable_at=timezone.now())
    CaseMail.objects.waiting().filter(address=address_id).update(state=CaseMail.State.REFUSED)


def _find(purpose: str, token: str) -> CaseAddress | None:
    found = read_link(purpose, token)
    return None if found is None else CaseAddress.objects.select_related("case").filter(pk=found).first()


def _find_locked(purpose: str, token: str) -> CaseAddress | None:
    """Find the address with its case locked, so that no reply is saved meanwhile that would miss the change."""
    found = _find(purpose, token)
    if found is None:
        return None
    try:
        lock_case(found.case_id)
    except NotFound:
        return None
    return _find(purpose, token)
