"""Takes the mails in which students answer into their cases, and tells their tabs."""

from asgiref.sync import async_to_sync

from chat.cases.mail.mailbox import read_mailbox
from chat.streaming.cases import publish_case
from core.redis import connections


def read_mails() -> int:
    """Read the mailbox; return how many cases have something new."""
    return read_mailbox(async_to_sync(_publish))


async def _publish(case: int) -> None:
    try:
        await publish_case(case)
    finally:
        # The loop ends with this call.
        await connections().aclose()
