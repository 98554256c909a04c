"""E-mails to staff: addresses of pages, and sending that survives a mail server that is away."""

import logging
from collections.abc import Callable, Sequence
from smtplib import SMTPDataError, SMTPRecipientsRefused
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from django.conf import settings
from django.core.mail import EmailMessage
from django.core.mail.backends.base import BaseEmailBackend
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from core.access import name_of
from core.db.locks import Lock, advisory_lock
from core.smtp import NoReply, PatientBackend

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet

logger = logging.getLogger(__name__)

#: From this code on, a mail server says that trying again is of no use.
FOR_GOOD = 500
#: A file that goes with a mail: its name, its bytes, its media type.
Attached = tuple[str, bytes, str]


NO_MAILS = gettext_lazy("This installation sends no e-mails. Ask whoever runs it.")


def sends_mails() -> bool:
    """Return whether this installation has a mail server."""
    return bool(settings.EMAIL_HOST)


def address(name: str, *arguments: object, **chosen: str) -> str:
    """Return the address of a page, or of a list with what is chosen in it, as browsers outside reach it."""
    query = f"?{urlencode(chosen)}" if chosen else ""
    return f"{settings.PUBLIC_URL}{reverse(name, args=arguments)}{query}"


def mail_each(readers: "QuerySet[User]", mail: "Callable[[BaseEmailBackend, User], int]") -> int:
    """Mail the readers one after the other, in one process at a time; return how many mails `mail` sent.

    Where the mail server is away, the rest is left to the next run.
    """
    if not sends_mails():
        return 0
    sent = 0
    with advisory_lock(Lock.STAFF_MAILS, wait=True), translation.override(settings.MAIL_LANGUAGE):
        chosen = list(readers)
        if not chosen:
            return 0
        try:
            with PatientBackend() as connection:
                for reader in chosen:
                    sent += mail(connection, reader)
        except OSError as error:
            # What the server says may hold addresses.
            logger.warning("mail server away, tried again later error=%s", type(error).__name__)
    return sent


def send(
    connection: BaseEmailBackend,
    reader: "User",
    subject: str,
    lines: Sequence[str],
    *,
    ending: Sequence[str] = (),
    attached: Sequence[Attached] = (),
) -> bool:
    """Send a mail; return whether that is settled: sent, or refused for good. Raise OSError if nobody can be mailed.

    A mail that the server got and did not confirm is not sent again: it may have arrived, and the admin has its news.
    `ending` says how to get no more of these mails; without it, it leads to the preferences.
    """
    ending = ending or [_("To choose which e-mails you get, or to turn them off:"), address("inbox-preferences")]
    greeting = _("Hello %(name)s,") % {"name": name_of(reader)}
    body = "\n".join([greeting, "", *lines, "", *ending, ""])
    # So that nobody's absence notice answers it.
    headers = {"Auto-Submitted": "auto-generated"}
    message = EmailMessage(subject, body, to=[reader.email], connection=connection, headers=headers)
    for name, content, kind in attached:
        message.attach(name, content, kind)
    try:
        message.send()
    except SMTPRecipientsRefused as error:
        return _is_settled(reader, max(code for code, _said in error.recipients.values()))
    except SMTPDataError as error:
        return _is_settled(reader, error.smtp_code)
    except NoReply:
        logger.warning("mail server said nothing about a mail reader=%d", reader.pk)
        connection.close()  # the next mail opens another one
    except ValueError:  # an address that no mail can be sent to
        return _is_settled(reader, FOR_GOOD)
    return True


def _is_settled(reader: "User", code: int) -> bool:
    is_for_good = code >= FOR_GOOD
    logger.warning("mail refused reader=%d code=%d for_good=%s", reader.pk, code, is_for_good)
    return is_for_good
