"""Services for e-mails of cases: the student's address, and what is sent to it."""

from django.db import transaction

from chat.cases.mail import addresses, queue
from chat.cases.messages import lock_own_case
from chat.cases.views import load_view
from chat.models import Case, CaseAddress, CaseMessage
from chat.protocol.shapes import CaseView
from chat.sites import rate_limits
from chat.sites.session_tokens import Session
from chat.streaming.cases import publish_case
from chat.tasks import send_case_mails
from core.db.prepared import in_database


def queue_reply_mail(message: CaseMessage) -> None:
    """Have the student mailed what was written to them, if they want it. Call it in the transaction that saves it."""
    if queue.add_reply(message):
        send_case_mails.delay_on_commit()


def queue_closed_mail(case: Case) -> None:
    """Have the student mailed that the office closed the case without a message, in the transaction that closes it."""
    if queue.add_closed(case):
        send_case_mails.delay_on_commit()


def change_address(case: Case, email: str) -> None:
    """Ask to confirm another address of a locked case, or delete it, in the caller's transaction.

    Raise Refused, TooMany, and redis.RedisError.
    """
    addresses.change_address(case, email)
    send_case_mails.delay_on_commit()


async def set_address(session: Session, case: int, *, email: str, address: str) -> CaseView:
    """Have replies sent to an address too, once its owner has confirmed it; empty to end that. Raise NotFound,
    Refused, TooMany, and redis.RedisError."""
    await rate_limits.count_case(visitor=session.visitor.hex, address=address)
    await in_database(_set_address)(session, case, email)
    await publish_case(case)
    view: CaseView = await in_database(load_view)(case)
    return view


@transaction.atomic
def _set_address(session: Session, case: int, email: str) -> None:
    change_address(lock_own_case(session.visitor, case), email)


async def confirm_address(token: str) -> CaseAddress | None:
    """Confirm the address of a link, and send what came before. Return None if the link holds no more."""
    address: CaseAddress | None = await in_database(_confirm)(token)
    if address:
        await publish_case(address.case_id)
    return address


@transaction.atomic
def _confirm(token: str) -> CaseAddress | None:
    address = addresses.confirm(token)
    if address:
        send_case_mails.delay_on_commit()
    return address


async def stop_mails(token: str) -> CaseAddress | None:
    """Delete the address of a link. Return it; None if it was deleted already."""
    address: CaseAddress | None = await in_database(addresses.stop)(token)
    if address:
        await publish_case(address.case_id)
    return address
