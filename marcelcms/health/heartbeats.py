"""Heartbeats: workers, beat and web processes record the time in Valkey, health checks read it.

Times are Valkey's own, so that clocks need not agree.
"""

from collections.abc import Iterable

from django.conf import settings

from core.redis import valkey

#: A heartbeat is deleted after so long, as if there had never been one.
KEPT_SECONDS = 60 * 24 * 3600
BEAT, BACKUP = "beat", "backup"


def record_heartbeat(*names: str) -> None:
    """Record that these parts live. Raise redis.RedisError."""
    client = valkey(settings.REDIS_URL)
    (seconds, _microseconds) = client.time()
    with client.pipeline(transaction=False) as pipeline:
        for name in names:
            pipeline.set(_key(name), seconds, ex=KEPT_SECONDS)
        pipeline.execute()


def seconds_since(names: Iterable[str]) -> dict[str, int | None]:
    """Return by name the seconds since its last heartbeat, None if there is none. Raise redis.RedisError."""
    names = list(names)
    client = valkey(settings.REDIS_URL)
    (now, _microseconds) = client.time()
    left = client.mget([_key(name) for name in names])
    return {name: max(0, now - int(at)) if at else None for name, at in zip(names, left, strict=True)}


def queues() -> list[str]:
    """List the queues that workers must serve."""
    routed = {route["queue"] for route in settings.CELERY_TASK_ROUTES.values()}
    return sorted({settings.CELERY_TASK_DEFAULT_QUEUE, *routed})


def name_worker(queue: str) -> str:
    """Return the name of the heartbeat of a queue's workers."""
    return f"worker:{queue}"


def depths() -> dict[str, int]:
    """Return by queue how many tasks wait. Raise redis.RedisError."""
    client, names = valkey(settings.CELERY_BROKER_URL), queues()
    with client.pipeline(transaction=False) as pipeline:
        for name in names:
            pipeline.llen(name)
        return dict(zip(names, pipeline.execute(), strict=True))


def _key(name: str) -> str:
    return f"marcelcms:sign:{name}"
