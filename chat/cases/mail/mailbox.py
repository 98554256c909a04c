"""The IMAP mailbox to which students answer: read every minute, by one process at a time.

What was taken is deleted there, so that nothing of a case is left when the case is deleted. What was refused is kept
for two weeks in a folder of its own, and deleted there when a case is that it may belong to.
"""

import imaplib
import logging
import re
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from email.utils import format_datetime
from typing import Any

from django.conf import settings
from django.db import InterfaceError, OperationalError
from django.utils import timezone
from redis import RedisError

from chat.cases.mail.inbound import MOST_BYTES, Verdict, take_mail
from chat.cases.mail.refused import KEPT, forget_refused, hash_headers, hashes_to_delete, note_refused
from core.db.locks import Lock, advisory_lock

logger = logging.getLogger(__name__)

TIMEOUT = 10
#: Mails of one run; the next one goes on.
MOST_MAILS = 100
REFUSED = "Refused"
#: If one of these is away, the mail is left for the next run.
AWAY = (OSError, OperationalError, InterfaceError, RedisError, imaplib.IMAP4.error)
HEADERS = "BODY.PEEK[HEADER]"
SIZE = re.compile(rb"RFC822\.SIZE (\d+)")
#: A folder's prefix and what stands between folders, where the server wants folders below INBOX.
NAMESPACE = re.compile(rb'\(\("(?P<prefix>[^"]*)" (?:"[^"]+"|NIL)')


class MailboxError(imaplib.IMAP4.error):
    """The server did not do what it was asked to; the text is ours."""


def read_mailbox(publish: Callable[[int], None]) -> int:
    """Read what students answered, and have each case that has something new published; return how many there are.

    Where the mailbox, or a part that a mail needs, is away, the rest is left to later runs.
    """
    if not (settings.MAILBOX.host and settings.CASE_MAIL_ADDRESS):
        return 0
    taken = 0
    with advisory_lock(Lock.CASE_MAILBOX) as is_mine:
        if not is_mine:
            return 0
        try:
            with open_mailbox() as mailbox:
                for case in mailbox.take_all():
                    publish(case)
                    taken += 1
                mailbox.clear_refused()
        except AWAY as error:
            # What the server says may hold names.
            logger.warning("mailbox not read, tried again later error=%s", type(error).__name__)
    return taken


@contextmanager
def open_mailbox() -> Iterator["Mailbox"]:
    """Log in and select the folder; raise OSError or imaplib.IMAP4.error."""
    where = settings.MAILBOX
    if where.tls:
        context = ssl.create_default_context()
        connection: imaplib.IMAP4 = imaplib.IMAP4_SSL(where.host, where.port, ssl_context=context, timeout=TIMEOUT)
    else:
        connection = imaplib.IMAP4(where.host, where.port, timeout=TIMEOUT)
    try:
        if where.starttls:
            connection.starttls(ssl.create_default_context())
        connection.login(where.user, where.password)
        mailbox = Mailbox(connection)
        mailbox.select(where.folder)
        yield mailbox
    finally:
        # Of a connection that broke, the first error counts.
        with suppress(OSError, imaplib.IMAP4.error):
            connection.logout()
        with suppress(OSError):
            connection.shutdown()


class Mailbox:
    """A connection that is logged in."""

    def __init__(self, connection: imaplib.IMAP4) -> None:
        self._connection = connection
        self._refused = ""

    def select(self, folder: str) -> None:
        """Raise MailboxError if there is no such folder."""
        status, _said = self._connection.select(f'"{folder}"')
        if status != "OK":
            raise MailboxError("no such folder")

    def take_all(self) -> Iterator[int]:
        """Take the mails, oldest first, and yield the cases that have something new."""
        for uid in self._search("UNDELETED")[:MOST_MAILS]:
            size = self._size(uid)
            raw = self._fetch(uid, HEADERS if size > MOST_BYTES else "BODY.PEEK[]")
            verdict, case = _take(uid, raw, size)
            if case is not None:
                yield case
            if verdict == Verdict.REFUSED:
                # First, so that no mail lies there without its note.
                note_refused(raw)
                self._copy_to_refused(uid)
            if verdict != Verdict.LATER:
                self._delete(uid)
        self._connection.expunge()

    def _size(self, uid: str) -> int:
        for part in self._ask("FETCH", uid, "(RFC822.SIZE)"):
            if found := SIZE.search(part if isinstance(part, bytes) else part[0]):
                return int(found[1])
        raise MailboxError("no size")

    def _fetch(self, uid: str, what: str) -> bytes:
        for part in self._ask("FETCH", uid, f"({what})"):
            if isinstance(part, tuple):
                return bytes(part[1])
        raise MailboxError("no content")

    def _copy_to_refused(self, uid: str) -> None:
        if not self._refused:
            self._refused = f"{self._prefix()}{REFUSED}"
            self._connection.create(f'"{self._refused}"')  # it may be there
        self._ask("COPY", uid, f'"{self._refused}"')

    def clear_refused(self) -> None:
        """Delete what was refused two weeks ago, and what may belong to a case that is deleted."""
        folder = f"{self._prefix()}{REFUSED}"
        if self._connection.select(f'"{folder}"')[0] != "OK":
            return
        before = timezone.now() - KEPT
        for uid in self._search("BEFORE", "-".join(format_datetime(before).split()[1:4])):
            self._delete(uid)
        hashes = hashes_to_delete()
        for uid in self._search("UNDELETED") if hashes else []:
            if hash_headers(self._fetch(uid, HEADERS)) in hashes:
                self._delete(uid)
        self._connection.expunge()
        forget_refused(hashes)

    def _prefix(self) -> str:
        try:
            found = NAMESPACE.search(self._connection.namespace()[1][0] or b"")
        except imaplib.IMAP4.error:  # it has none
            return ""
        return found["prefix"].decode() if found else ""

    def _search(self, *wanted: str) -> list[str]:
        return b" ".join(self._ask("SEARCH", *wanted)).decode().split()

    def _delete(self, uid: str) -> None:
        self._ask("STORE", uid, "+FLAGS.SILENT", r"(\Deleted)")

    def _ask(self, command: str, *arguments: str) -> list[Any]:
        status, data = self._connection.uid(command, *arguments)
        if status != "OK":
            raise MailboxError(f"{command} refused")
        return [part for part in data if part]


def _take(uid: str, raw: bytes, size: int) -> tuple[Verdict, int | None]:
    try:
        return take_mail(raw, size=size)
    except AWAY:
        raise
    except Exception as error:
        # One that breaks what reads it must not keep the others waiting.
        logger.error("mail not read uid=%s error=%s", uid, type(error).__name__)
        return Verdict.REFUSED, None
