"""Sends the mails that wait. A mail is claimed before it is sent, and what came of it is saved right after.

Who is killed between the server's “250” and that leaves a mail that is sent once more, ten minutes later, with the same
Message-ID: a reply that never arrives would be worse (RFC 1047 has the same choice for every mail server). So does a
server that breaks off after the content; that mail is tried again seldom, since the student may have it.
"""

import logging
import time
from contextlib import suppress
from smtplib import SMTPDataError, SMTPNotSupportedError, SMTPRecipientsRefused

from django.conf import settings
from django.core.mail.backends.base import BaseEmailBackend
from django.utils import timezone

from chat.cases.mail.addresses import mark_unreachable
from chat.cases.mail.compose import compose, compose_answer
from chat.cases.mail.queue import PAUSES, UNCERTAIN_PAUSES, claim, postpone, settle
from chat.models import CaseMail
from core.smtp import NoReply, PatientBackend

logger = logging.getLogger(__name__)

#: Seconds after which a run takes no further mail; the next one goes on.
RUN_SECONDS = 120
#: From this code on, a mail server says that trying again is of no use.
FOR_GOOD = 500


def send_due() -> int:
    """Send the mails that are due; return how many. Where the server is away, the rest is left to later runs."""
    if not settings.EMAIL_HOST:
        return 0
    sent, until = 0, time.monotonic() + RUN_SECONDS
    connection = PatientBackend()
    try:
        while time.monotonic() < until and (mail := claim(timezone.now())) is not None:
            try:
                sent += _send(mail, connection)
            except OSError as error:
                postpone(mail, pauses=UNCERTAIN_PAUSES if isinstance(error, NoReply) else PAUSES)
                # What the server says may hold addresses.
                logger.warning("mail server away, tried again later error=%s", type(error).__name__)
                break
    finally:
        with suppress(OSError):
            connection.close()
    return sent


def _send(mail: CaseMail, connection: BaseEmailBackend) -> bool:
    """Send a mail and save what came of it. Raise OSError if the server takes none at all."""
    connection.open()
    try:
        compose(mail, connection).send()
    except SMTPRecipientsRefused as error:
        code = max(code for code, _said in error.recipients.values())
        _refuse(mail, code)
        if code >= FOR_GOOD:
            mark_unreachable(mail.address_id)
        return False
    except SMTPDataError as error:
        _refuse(mail, error.smtp_code)
        return False
    except (ValueError, SMTPNotSupportedError):  # an address that no mail can be sent to
        _refuse(mail, FOR_GOOD)
        return False
    settle(mail, CaseMail.State.SENT)
    return True


def _refuse(mail: CaseMail, code: int) -> None:
    is_for_good = code >= FOR_GOOD
    logger.warning("mail refused mail=%d code=%d for_good=%s", mail.pk, code, is_for_good)
    if is_for_good:
        settle(mail, CaseMail.State.REFUSED)
    else:
        postpone(mail)


def send_answer(*, to: str, language: str, said: str, in_reply_to: str) -> None:
    """Answer a mail that was not taken. Raise OSError while the server is away.

    An answer that is refused, or may have arrived, is let be.
    """
    if not settings.EMAIL_HOST:
        return
    with PatientBackend() as connection:
        answer = compose_answer(to=to, language=language, said=said, in_reply_to=in_reply_to, connection=connection)
        try:
            answer.send()
        except (NoReply, SMTPRecipientsRefused, SMTPDataError, SMTPNotSupportedError, ValueError) as error:
            logger.warning("answer not sent error=%s", type(error).__name__)
