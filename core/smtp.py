"""SMTP that waits long for the reply to a mail's content, and says if it is missing: the mail may have arrived."""

import smtplib
from typing import TYPE_CHECKING

from django.core.mail.backends.smtp import EmailBackend

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

#: Seconds that a server may take to look through a mail before it says that it has it; RFC 5321 allows ten minutes.
REPLY_SECONDS = 120


class NoReply(OSError):
    """The server got the mail and did not say whether it delivers it."""


class _Patient(smtplib.SMTP):
    def data(self, msg: "ReadableBuffer | str") -> tuple[int, bytes]:
        """Send the content. Raise NoReply if nothing is said about it, and smtplib.SMTPDataError if it is refused."""
        if self.sock:
            self.sock.settimeout(REPLY_SECONDS)
        try:
            return super().data(msg)
        except smtplib.SMTPDataError:
            raise
        except OSError as error:
            raise NoReply from error


class _PatientWithTls(_Patient, smtplib.SMTP_SSL):
    pass


class PatientBackend(EmailBackend):
    """Django's own, but for the reply to a mail's content."""

    @property
    def connection_class(self) -> type[smtplib.SMTP]:
        return _PatientWithTls if self.use_ssl else _Patient
