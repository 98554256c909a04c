"""The connections to Valkey behind Django's cache.

Django makes a client with a pool of its own for each thread, and under ASGI for each request; nobody closes it, so
connections pile up until the garbage collector comes by.
"""

from functools import lru_cache
from typing import Any, Self

from redis import BlockingConnectionPool

#: At once, by all threads of a process together; who comes later waits for one, and then gets a ConnectionError.
MOST_CONNECTIONS, WAIT_SECONDS = 16, 5


class SharedPool(BlockingConnectionPool):
    """One a process and address."""

    @classmethod
    @lru_cache(maxsize=4)
    def from_url(cls, url: str, **options: Any) -> Self:
        return super().from_url(url, max_connections=MOST_CONNECTIONS, timeout=WAIT_SECONDS, **options)
