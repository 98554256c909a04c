"""Tells mails that no person wrote: absence notices, lists, delivery reports (RFC 3834, RFC 3464)."""

import re
from email.message import Message

#: Headers that only programs set; any value but `no` of the first one.
AUTO_SUBMITTED = "Auto-Submitted"
PRECEDENCE = {"bulk", "junk", "list", "auto_reply"}
HEADERS = ("X-Autoreply", "X-Autorespond", "X-Mail-Autoreply", "List-Id")
SENDERS = re.compile(r"(?:mailer-daemon|postmaster|no-?reply|do-?not-?reply)@", re.IGNORECASE)
#: How absence notices of servers begin that set no header.
SUBJECTS = re.compile(
    r"\s*(?:automatic reply|auto(?:matic)?[- ]?reply|out of (?:the )?office"
    r"|automatische antwort|abwesenheits(?:notiz|benachrichtigung|nachricht))\b",
    re.IGNORECASE,
)


def is_automatic(mail: Message, sender: str) -> bool:
    """Return whether a program wrote it, so that nobody is to read it and nothing may answer it."""
    said = str(mail.get(AUTO_SUBMITTED, "no")).split(";")[0].strip().lower()
    return (
        said not in {"no", ""}
        or str(mail.get("Precedence", "")).strip().lower() in PRECEDENCE
        or any(header in mail for header in HEADERS)
        or str(mail.get("Return-Path", "")).strip() == "<>"
        or mail.get_content_type() == "multipart/report"
        or bool(SENDERS.match(sender))
        or bool(SUBJECTS.match(str(mail.get("Subject", ""))))
    )


def is_failed_delivery(mail: Message) -> bool:
    """Return whether it reports that a mail could not be delivered for good; one that is only late is none."""
    if mail.get_content_type() != "multipart/report":
        return False
    for part in mail.walk():
        if part.get_content_type() != "message/delivery-status":
            continue
        # The first block is about the report, each other one about a recipient.
        blocks = part.get_payload()
        for block in blocks if isinstance(blocks, list) else []:
            if not isinstance(block, Message):
                continue
            action, status = (str(block.get(name, "")).strip().lower() for name in ("Action", "Status"))
            if action == "failed" and not status.startswith("4"):
                return True
    return False
