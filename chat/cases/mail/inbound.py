"""Takes a mail from a student into their case, or says why not."""

import logging
from collections.abc import Sequence
from datetime import timedelta
from enum import StrEnum

from django.conf import settings
from django.db import transaction
from django.utils import timezone, translation
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from chat.cases.mail import signing
from chat.cases.mail.addresses import mark_unreachable
from chat.cases.mail.compose import OWN_HEADER
from chat.cases.mail.content.automatic import is_automatic, is_failed_delivery
from chat.cases.mail.content.parsing import IncomingMail, parse_mail
from chat.cases.mail.content.quotes import new_text
from chat.cases.mail.limits import count_answer, uncount_answer
from chat.cases.mail.sending import send_answer
from chat.cases.messages import add_student_message, lock_case
from chat.cases.words import MESSAGE_CHARACTERS
from chat.errors import NotFound, Refused
from chat.models import Case, CaseAddress, CaseMessage

logger = logging.getLogger(__name__)

#: A mail of more bytes is not read: its attachments would not be taken.
MOST_BYTES = 10_000_000
#: Mails of one case in an hour; more come from a program.
MOST_AN_HOUR = 20
#: After it, a closed case is not opened again by mail.
CLOSED_LONG = timedelta(days=30)
#: Attachments that are named.
NAMED = 5


class Verdict(StrEnum):
    """The outcome of a mail; an administrator may want to look at one that is `REFUSED`.

    `LATER` is one whose sender is to be answered while the mail server is away.
    """

    TAKEN = "taken"
    LATER = "later"
    SETTLED = "settled"
    REFUSED = "refused"


class _Declined(Exception):
    """The mail is not taken. Its sender gets the reason."""


def take_mail(raw: bytes, *, size: int) -> tuple[Verdict, int | None]:
    """Take a mail of `size` bytes, of which `raw` is all, or the headers if it is too large.

    Return what became of it, and the case that has something new. Taken twice, it is saved once. Raise
    redis.RedisError.
    """
    mail = parse_mail(raw)
    found = (signing.read_recipient(address) for address in mail.recipients)
    recipient = next((each for each in found if each), None)
    if recipient and recipient.is_bounce and is_failed_delivery(mail.message):
        mark_unreachable(recipient.id)
        return _say(Verdict.SETTLED, "came_back")
    if OWN_HEADER in mail.message or mail.mail_id.startswith(signing.OWN_ID):
        return _say(Verdict.SETTLED, "our_own")
    if is_automatic(mail.message, mail.sender):
        return _say(Verdict.SETTLED, "automatic")
    if recipient is None or recipient.is_bounce:
        return _say(Verdict.REFUSED, "no_signed_address")
    return _take_into(recipient.id, mail, size)


def _take_into(case_id: int, mail: IncomingMail, size: int) -> tuple[Verdict, int | None]:
    language = settings.MAIL_LANGUAGE
    try:
        with transaction.atomic():
            case = lock_case(case_id)
            while case.merged_into_id:
                case = lock_case(case.merged_into_id)
            if not _is_from_student(case, mail):
                return _say(Verdict.REFUSED, "another_sender", case_id)
            if _mails_lately(case) >= MOST_AN_HOUR:
                return _say(Verdict.REFUSED, "too_many", case_id)
            language = case.language
            with translation.override(language):
                message = _save(case, mail, size)
        return (Verdict.TAKEN, case.pk) if message else _say(Verdict.SETTLED, "nothing_new", case_id)
    except NotFound:
        with translation.override(language):
            said = _("Your question was deleted. Please ask again in the chat.")
        reason = "no_case"
    except (_Declined, Refused) as error:
        said, reason = error.detail if isinstance(error, Refused) else str(error), "declined"
    try:
        _answer(mail, language, said)
    except OSError as error:
        logger.warning("mail server away, tried again later error=%s", type(error).__name__)
        return _say(Verdict.LATER, reason, case_id)
    return _say(Verdict.SETTLED, reason, case_id)


def _is_from_student(case: Case, mail: IncomingMail) -> bool:
    address = CaseAddress.objects.filter(case=case, confirmed_at__isnull=False).first()
    return address is not None and address.email.lower() == mail.sender


def _mails_lately(case: Case) -> int:
    lately = timezone.now() - timedelta(hours=1)
    return CaseMessage.objects.filter(case=case, created_at__gte=lately).exclude(mail_id="").count()


def _save(case: Case, mail: IncomingMail, size: int) -> CaseMessage | None:
    """Save the mail's own words in a locked case; None if they are there already, or there are none."""
    if CaseMessage.objects.filter(mail_id=mail.mail_id).exists():
        return None
    if case.closed_at and timezone.now() - case.closed_at > CLOSED_LONG:
        raise _Declined(_("Your question was closed long ago. Please ask again in the chat."))
    if size > MOST_BYTES:
        raise _Declined(
            _("Your e-mail has more than 10 MB. Please send it again without attachments: they are not taken.")
        )
    text = _words(mail)
    return add_student_message(case=case, text=text, mail_id=mail.mail_id) if text else None


def _words(mail: IncomingMail) -> str:
    """Return what the case gets: the new words, and what of the mail it does not get."""
    text, notes = new_text(mail.text), _notes(mail.attachments)
    if len(text) + len(notes) + 2 > MESSAGE_CHARACTERS:
        cut = _("[The e-mail was longer. The rest was not taken.]")
        notes = f"{cut}\n{notes}".strip()
        text = text[: MESSAGE_CHARACTERS - len(notes) - 2].rstrip()
    return "\n\n".join(filter(None, (text, notes)))


def _notes(attachments: Sequence[str]) -> str:
    if not attachments:
        return ""
    count = len(attachments)
    said = ngettext("%(count)d attachment was not taken", "%(count)d attachments were not taken", count)
    names = ", ".join(attachments[:NAMED]) + (", …" if count > NAMED else "")
    return f"[{said % {'count': count}}: {names}]"


def _answer(mail: IncomingMail, language: str, said: str) -> None:
    """Answer whoever sent it, a few times a day: two programs that answer each other stop soon.

    Raise OSError while the mail server is away.
    """
    if not mail.sender or not count_answer(mail.sender):
        return
    try:
        send_answer(to=mail.sender, language=language, said=said, in_reply_to=mail.mail_id)
    except OSError:
        uncount_answer(mail.sender)
        raise


def _say(verdict: Verdict, reason: str, case: int | None = None) -> tuple[Verdict, None]:
    """Log why a mail brought nothing, without a word of it."""
    level = logging.WARNING if verdict == Verdict.REFUSED else logging.INFO
    logger.log(level, "mail not taken verdict=%s reason=%s case=%s", verdict, reason, case or "")
    return verdict, None
