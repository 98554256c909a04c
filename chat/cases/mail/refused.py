"""Notes which cases a refused mail may belong to, so that it is deleted with them.

The mail stays in the mailbox, and the mailbox may be away when a case is deleted. The notes stay until it was there.
"""

import hashlib
from datetime import timedelta

from django.db.models import Q
from django.utils import timezone

from chat.cases.mail import signing
from chat.cases.mail.content.parsing import parse_mail
from chat.models import CaseAddress, RefusedMail

#: So long refused mails are kept, if their cases are.
KEPT = timedelta(days=14)
#: Longer than that, since servers count by days of their own time zone.
NOTED = KEPT + timedelta(days=2)


def split_headers(raw: bytes) -> bytes:
    """Return the headers of a mail."""
    return raw.partition(b"\r\n\r\n")[0].rstrip()


def hash_headers(raw: bytes) -> str:
    """Return by what a refused mail is found again, whatever number the server gave to its copy."""
    return hashlib.sha256(split_headers(raw)).hexdigest()


def note_refused(raw: bytes) -> None:
    """Note the cases that a mail may belong to: those that it is addressed to, and those with its sender's address."""
    mail = parse_mail(split_headers(raw))
    recipients = [found for address in mail.recipients if (found := signing.read_recipient(address))]
    cases = {each.id for each in recipients if not each.is_bounce}
    rows = Q(pk__in=[each.id for each in recipients if each.is_bounce])
    if mail.sender.isascii() and mail.sender.isprintable():
        rows |= Q(email__iexact=mail.sender)
    cases |= set(CaseAddress.objects.filter(rows).values_list("case", flat=True))
    notes = [RefusedMail(case_id=case, headers_hash=hash_headers(raw)) for case in cases]
    RefusedMail.objects.bulk_create(notes, ignore_conflicts=True)


def hashes_to_delete() -> set[str]:
    """Return by what to find the refused mails whose cases are deleted."""
    return set(RefusedMail.objects.of_deleted_cases().values_list("headers_hash", flat=True))


def forget_refused(hashes: set[str]) -> None:
    """Delete the notes of mails that are deleted: of these, and of those that were too old."""
    is_old = Q(refused_at__lt=timezone.now() - NOTED)
    RefusedMail.objects.filter(is_old | Q(headers_hash__in=hashes)).delete()
