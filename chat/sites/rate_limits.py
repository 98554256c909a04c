"""Rate limits, counted in Valkey by whole minutes."""

import datetime
import ipaddress
import logging
import time
from collections.abc import Mapping, Sequence

from django.conf import settings
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _
from redis import RedisError

from chat.errors import TooMany
from core.redis import connections

logger = logging.getLogger(__name__)
#: Messages to offices and changes of an address, by visitor and by network address.
CASES_PER_MINUTE, CASES_PER_MINUTE_AND_ADDRESS = 10, 60
#: KEYS: counters, the narrowest first. ARGV: how much each allows. What one refuses is not counted by the wider ones:
#: one visitor cannot use up what all of a site's may ask.
COUNT = """
for at, key in ipairs(KEYS) do
    local count = redis.call('INCR', key)
    redis.call('EXPIRE', key, 120)
    if count > tonumber(ARGV[at]) then return 1 end
end
return 0
"""


async def count_question(*, visitor: str, address: str, site: str) -> None:
    """Raise TooMany past what a visitor, an address or a site may ask in a minute, and redis.RedisError."""
    quotas = {
        f"asked:{visitor}": settings.QUESTIONS_PER_MINUTE,
        f"asked:{pseudonym(address)}": settings.QUESTIONS_PER_MINUTE_AND_ADDRESS,
        f"asked:site:{site}": settings.QUESTIONS_PER_MINUTE_AND_SITE,
    }
    if await _exceeded(quotas):
        detail = _("That was a lot of questions at once. Please wait a moment.")
        raise _too_many("too_many_questions", detail)


async def count_session(address: str) -> None:
    """Raise TooMany past what an address may begin in a minute, and redis.RedisError."""
    if await _exceeded({f"begun:{pseudonym(address)}": settings.SESSIONS_PER_MINUTE_AND_ADDRESS}):
        raise _too_many("too_many_sessions", _("Too many conversations begin from here. Please wait a moment."))


async def count_case(*, visitor: str, address: str) -> None:
    """Raise TooMany past what a visitor or an address may write to offices in a minute, and redis.RedisError."""
    quotas = {f"case:{visitor}": CASES_PER_MINUTE, f"case:{pseudonym(address)}": CASES_PER_MINUTE_AND_ADDRESS}
    if await _exceeded(quotas):
        raise _too_many("too_many_messages", _("That was a lot at once. Please wait a moment."))


async def count_client(client: int, *, most: int) -> None:
    """Raise TooMany past what a connected program may ask in a minute, and redis.RedisError."""
    if await _exceeded({f"client:{client}": most}):
        raise _too_many("rate_limit_exceeded", _("The program has used up its requests for this minute."))


async def llm_quota_available() -> bool:
    """Count an answer that the model is to write. Return whether LLM_ANSWERS_PER_MINUTE leaves it room."""
    if not settings.LLM_ANSWERS_PER_MINUTE:
        return True
    try:
        return not await _exceeded({"written": settings.LLM_ANSWERS_PER_MINUTE})
    except (RedisError, OSError) as error:
        logger.warning("answers not counted error=%s", type(error).__name__)
        return True


def pseudonym(address: str) -> str:
    """Of a network address, another one every day; an IPv6 customer's network counts as one address."""
    try:
        parsed = ipaddress.ip_address(address)
        # ::ffff:192.0.2.1 is how an IPv4 visitor looks to a socket for both.
        parsed = getattr(parsed, "ipv4_mapped", None) or parsed
        address = str(parsed if parsed.version == 4 else ipaddress.ip_network((parsed, 64), strict=False))
    except ValueError:
        pass  # a socket's path, or nothing
    today = datetime.datetime.fromtimestamp(time.time(), datetime.UTC).date()
    return salted_hmac(f"chat.limits.{today}", address, algorithm="sha256").hexdigest()[:32]


def trusted_address(peer: str, forwarded: Sequence[str]) -> str:
    """Return the client's address as the outermost of TRUSTED_PROXIES saw it: clients write what they like before.

    `forwarded` are the values of X-Forwarded-For headers in order.
    """
    seen = [part.strip() for value in forwarded for part in value.split(",") if part.strip()]
    count = settings.TRUSTED_PROXIES
    return seen[max(0, len(seen) - count)] if count and seen else peer


async def _exceeded(quotas: Mapping[str, int]) -> bool:
    """Count one more for each, in this order, up to one past its limit. Return whether there is such a one."""
    minute = int(time.time()) // 60
    keys = [f"marcelcms:{name}:{minute}" for name in quotas]
    return bool(await connections().eval(COUNT, len(keys), *keys, *quotas.values()))


def _too_many(code: str, detail: str) -> TooMany:
    refused = TooMany(code, detail)
    refused.retry_after = 60 - int(time.time()) % 60
    return refused
