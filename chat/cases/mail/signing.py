"""Signs what a mail to a student carries: its links, the addresses that answers and bounces go to, its Message-ID."""

import re
from dataclasses import dataclass
from email.utils import parseaddr

from django.conf import settings
from django.core import signing
from django.utils.crypto import constant_time_compare, salted_hmac

#: Seconds for which the link holds that confirms an address.
CONFIRM_SECONDS = 3 * 24 * 3600
CONFIRM, STOP = "chat.case_mail.confirm", "chat.case_mail.stop"
#: What is added to CASE_MAIL_ADDRESS: a case, or an address row behind a `b`. Mail programs may write it in capitals.
ADDED = re.compile(r"(?P<kind>b?)(?P<id>[1-9]\d{0,17})\.(?P<mac>[0-9a-f]{24})")
#: At the beginning of every Message-ID of ours.
OWN_ID = "<marcelcms-case-"


@dataclass(frozen=True, slots=True)
class Recipient:
    """What an incoming mail is addressed to: a case, or with `is_bounce` the address row whose mail came back."""

    id: int
    is_bounce: bool


def sign_link(purpose: str, address_id: int) -> str:
    """Return the token of a link in a mail to this address row."""
    return signing.dumps(address_id, salt=purpose)


def read_link(purpose: str, token: str) -> int | None:
    """Return the address row of a link's token, or None if it is forged, damaged or too old."""
    try:
        found = signing.loads(token, salt=purpose, max_age=CONFIRM_SECONDS if purpose == CONFIRM else None)
    except signing.BadSignature:
        return None
    return found if isinstance(found, int) else None


def takes_replies() -> bool:
    """Return whether students can answer by mail here."""
    return bool(settings.CASE_MAIL_ADDRESS and settings.MAILBOX.host)


def reply_address(case_id: int) -> str:
    """Return the address by which the student answers in a case."""
    return _signed(f"{case_id}")


def bounce_address(address_id: int) -> str:
    """Return the address to which a mail to this address row comes back."""
    return _signed(f"b{address_id}")


def read_recipient(address: str) -> Recipient | None:
    """Return what an address of ours stands for, or None if we did not sign it."""
    local, _at, domain = address.lower().rpartition("@")
    name, _plus, added = local.partition("+")
    if f"{name}@{domain}" != settings.CASE_MAIL_ADDRESS:
        return None
    found = ADDED.fullmatch(added)
    if found is None or not constant_time_compare(found["mac"], _mac(f"{found['kind']}{found['id']}")):
        return None
    return Recipient(int(found["id"]), is_bounce=bool(found["kind"]))


def message_id(kind: str, number: int | str) -> str:
    """Return the Message-ID of a mail; a mail that is sent again has the same one, so that mailboxes know it."""
    return f"{OWN_ID}{kind}-{number}.{_mac(f'{kind}{number}')[:12]}@{own_domain()}>"


def own_domain() -> str:
    """Return the domain that mails to students come from."""
    address = settings.CASE_MAIL_ADDRESS or parseaddr(settings.DEFAULT_FROM_EMAIL)[1]
    return address.rpartition("@")[2]


def _signed(added: str) -> str:
    name, _at, domain = settings.CASE_MAIL_ADDRESS.rpartition("@")
    return f"{name}+{added}.{_mac(added)}@{domain}"


def _mac(value: str) -> str:
    return salted_hmac("chat.case_mail.address", value, algorithm="sha256").hexdigest()[:24]
