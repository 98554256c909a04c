"""An IMAP server (pymap) in a process of its own, with one mailbox, and what is in it."""

import imaplib
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from typing import Any

from marcelcms import env
from tests.analytics.inbox.mail_server import free_port
from tests.servers import wait_until

USER, PASSWORD = "replies", "only for tests"


class MailboxServer:
    """`certificate` is a file with a certificate and its key, with which it wants STARTTLS."""

    def __init__(self, certificate: Path | None = None) -> None:
        self.port, self._certificate = free_port(), certificate
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> env.Mailbox:
        return env.Mailbox("127.0.0.1", self.port, USER, PASSWORD)

    def start(self) -> None:
        pymap = Path(sys.executable).with_name("pymap")
        tls = ["--cert", str(self._certificate)] if self._certificate else ["--no-tls"]
        where = ["--host", "127.0.0.1", "--port", str(self.port), *tls]
        account = ["--demo-user", USER, "--demo-password", PASSWORD]
        self._process = subprocess.Popen([pymap, *where, "dict", *account], stderr=subprocess.DEVNULL)
        wait_until(self._answers)

    def stop(self) -> None:
        if self._process:
            self._process.terminate()
            self._process.wait(10)

    def _answers(self) -> bool:
        with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1):
            return True
        return False

    @contextmanager
    def _connected(self) -> Iterator[imaplib.IMAP4]:
        with imaplib.IMAP4("127.0.0.1", self.port, timeout=10) as connection:
            connection.login(USER, PASSWORD)
            yield connection

    def deliver(self, mail: EmailMessage | bytes, *, at: str = "") -> None:
        """Put a mail into the inbox, as a mail server does."""
        content = mail if isinstance(mail, bytes) else mail.as_bytes(policy=policy.SMTP)
        with self._connected() as connection:
            status, said = connection.append("INBOX", "", at, content)
            assert status == "OK", said

    def mails(self, folder: str = "INBOX") -> list[Any]:
        """Return the mails of a folder; none if there is no such folder."""
        with self._connected() as connection:
            if connection.select(folder)[0] != "OK":
                return []
            (uids,) = connection.uid("SEARCH", "UNDELETED")[1]
            fetched = [connection.uid("FETCH", uid.decode(), "(BODY.PEEK[])")[1] for uid in (uids or b"").split()]
        return [message_from_bytes(data[0][1], policy=policy.default) for data in fetched]

    def empty(self) -> None:
        with self._connected() as connection:
            for folder in ("INBOX", "Refused"):
                if connection.select(folder)[0] == "OK":
                    connection.store("1:*", "+FLAGS", r"(\Deleted)")
                    connection.expunge()
