"""Takes the mails in which students answer into their cases, and tells their tabs."""

from chat.cases.mail.mailbox import read_mailbox
from chat.streaming.cases import publish_case_from_thread


def read_mails() -> int:
    """Read the mailbox; return how many cases have something new."""
    return read_mailbox(publish_case_from_thread)
