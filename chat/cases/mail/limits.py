"""Limits of mails to one recipient, counted in Valkey for a day by a pseudonym of the address."""

from django.core.cache import cache
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _

from chat.errors import TooMany

#: Mails that ask to confirm an address, and answers to mails that could not be taken; of all cases together.
CONFIRMATIONS_PER_DAY, ANSWERS_PER_DAY = 5, 3
DAY = 24 * 3600


def count_confirmation(email: str) -> None:
    """Raise TooMany if the recipient was asked often enough today, and redis.RedisError."""
    if _count("confirmation", email) > CONFIRMATIONS_PER_DAY:
        refused = TooMany("too_many_mails", _("This address was asked often enough today. Replies appear here too."))
        refused.retry_after = DAY
        raise refused


def count_answer(email: str) -> bool:
    """Return whether the recipient may be answered once more today. Raise redis.RedisError."""
    return _count("answer", email) <= ANSWERS_PER_DAY


def uncount_answer(email: str) -> None:
    """Take back the last count: nothing was sent."""
    cache.decr(_key("answer", email))


def _count(kind: str, email: str) -> int:
    key = _key(kind, email)
    cache.add(key, 0, DAY)
    count: int = cache.incr(key)
    return count


def _key(kind: str, email: str) -> str:
    today = timezone.localdate()
    pseudonym = salted_hmac(f"chat.case_mail.{kind}.{today}", email.lower(), algorithm="sha256").hexdigest()[:32]
    return f"case_mail:{kind}:{pseudonym}"
