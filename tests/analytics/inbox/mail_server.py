"""A mail server of the tests' own, which speaks SMTP, and what it was given."""

import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, Envelope, Session
from pytest_django import Settings

from marcelcms import env


@dataclass
class MailServer:
    """`refused` has the reply to a recipient that it does not take, such as "550 unknown".

    Of the next `hang_ups` mails it breaks off when it has them, instead of saying so.
    """

    port: int
    tls: ssl.SSLContext | None = None
    mails: list[EmailMessage] = field(default_factory=list)
    recipients: list[str] = field(default_factory=list)
    senders: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)
    logins: list[tuple[str, str]] = field(default_factory=list)
    hang_ups: int = 0
    _controller: Controller | None = None

    def start(self) -> None:
        """Serve, also once more after `stop`."""
        self._controller = Controller(
            self,
            hostname="127.0.0.1",
            port=self.port,
            tls_context=self.tls,
            authenticator=self.authenticate,
            auth_require_tls=self.tls is not None,
        )
        self._controller.start()

    def stop(self) -> None:
        if self._controller:
            self._controller.stop()
        self._controller = None

    async def handle_RCPT(
        self, _server: Any, _session: Session, envelope: Envelope, address: str, _options: list[str]
    ) -> str:
        if address in self.refused:
            return self.refused[address]
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: Any, _session: Session, envelope: Envelope) -> str:
        content = envelope.original_content or b""
        self.mails.append(message_from_bytes(content, policy=policy.default))  # type: ignore[arg-type]
        self.recipients += envelope.rcpt_tos
        self.senders.append(envelope.mail_from or "")
        if self.hang_ups:
            self.hang_ups -= 1
            server.transport.close()
        return "250 OK"

    def authenticate(self, _server: Any, _session: Any, _envelope: Any, _mechanism: str, given: Any) -> AuthResult:
        self.logins.append((given.login.decode(), given.password.decode()))
        return AuthResult(success=True)

    def body_to(self, address: str) -> str:
        """Return the text of the only mail to somebody."""
        (mail,) = [mail for mail in self.mails if mail["To"] == address]
        text: str = mail.get_content()
        return text.replace("\r\n", "\n")


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


@contextmanager
def mail_server(tls: ssl.SSLContext | None = None) -> Iterator[MailServer]:
    """Serve until the block ends, with STARTTLS if a context is given."""
    server = MailServer(free_port(), tls)
    server.start()
    yield server
    server.stop()


def use(settings: Settings, server: env.MailServer) -> None:
    """Set what `marcelcms.settings` sets of a mail server."""
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = server.host, server.port
    settings.EMAIL_HOST_USER, settings.EMAIL_HOST_PASSWORD = server.user, server.password
    settings.EMAIL_USE_SSL, settings.EMAIL_USE_TLS = server.tls, server.starttls
    settings.DEFAULT_FROM_EMAIL = "MarcelCMS <marcel@uni.example>"
