"""Connections to Valkey behind Django's cache.

Django makes a client with a pool of its own for each thread, and under ASGI for each request. Nobody closes these, so
connections accumulate until garbage collection.
"""

import asyncio
import logging
from functools import lru_cache
from typing import Any, Self
from weakref import WeakKeyDictionary

import redis
from django.conf import settings
from redis import BlockingConnectionPool
from redis import asyncio as async_redis
from redis.maint_notifications import MaintNotificationsConfig

logger = logging.getLogger(__name__)
#: Connections of all threads of a process; a thread waits for a free one, and then gets a ConnectionError.
MOST_CONNECTIONS, WAIT_SECONDS = 16, 5


class SharedPool(BlockingConnectionPool):
    """One connection pool for each process and address."""

    @classmethod
    @lru_cache(maxsize=4)
    def from_url(cls, url: str, **options: Any) -> Self:
        return super().from_url(url, max_connections=MOST_CONNECTIONS, timeout=WAIT_SECONDS, **options)


_pools: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, async_redis.Redis]] = WeakKeyDictionary()


def connections() -> async_redis.Redis:
    """Return the connection pool of this event loop, since connections belong to it."""
    pools, url = _pools.setdefault(asyncio.get_running_loop(), {}), settings.REDIS_URL
    if url not in pools:
        pools[url] = async_redis.Redis.from_url(
            url,
            socket_connect_timeout=2,
            socket_timeout=5,
            decode_responses=True,
            # Otherwise the pool returns connections that a restarted Valkey has closed (redis 8.1).
            maint_notifications_config=MaintNotificationsConfig(enabled=False),
        )
    return pools[url]


@lru_cache(maxsize=4)
def valkey(url: str) -> redis.Redis:
    """Return a client for probes, which must not hang."""
    return redis.Redis.from_url(url, socket_connect_timeout=1, socket_timeout=1, decode_responses=True)


def rewrite_file() -> None:
    """Have Valkey write its append-only file anew: what was deleted stays in it until then.

    A server that others run may not allow that, and one that is writing it anew needs no second order.
    """
    try:
        valkey(settings.REDIS_URL).bgrewriteaof()
    except (redis.RedisError, OSError) as error:
        logger.warning("file of valkey not rewritten error=%s", type(error).__name__)
