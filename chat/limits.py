"""How often somebody may ask, counted in Valkey by whole minutes."""

import time

from django.conf import settings
from django.utils.translation import gettext as _

from chat.event_log import connections
from chat.guard import Refused


class TooMany(Refused):
    """`retry_after` is in seconds."""

    retry_after: int = 60


async def count_question(visitor: str) -> None:
    """Raises TooMany past QUESTIONS_PER_MINUTE, and redis.RedisError."""
    now = int(time.time())
    key = f"marcelcms:asked:{visitor}:{now // 60}"
    async with connections().pipeline() as pipeline:
        pipeline.incr(key)
        pipeline.expire(key, 120)
        asked, _expiry = await pipeline.execute()
    if asked > settings.QUESTIONS_PER_MINUTE:
        refused = TooMany("too_many_questions", _("That was a lot of questions at once. Please wait a moment."))
        object.__setattr__(refused, "retry_after", 60 - now % 60)
        raise refused
