"""Is this container's process well? `healthcheck.py web` or `healthcheck.py worker QUEUES`; exit code 0 or 1.

Docker asks every few seconds, so it loads neither Django nor, for `web`, anything that is not Python's own.
`healthcheck.py ready` is for people, in a web process's container: whether questions can be answered, and what is away.
"""

import http.client
import os
import socket
import sys
from pathlib import Path

PATIENCE = 4  # seconds


def web(path: str = "/health/live") -> tuple[bool, str]:
    """Whether the server replies well to this, asked as its proxy asks it; and what it says."""
    connection = http.client.HTTPConnection("127.0.0.1", int(os.environ.get("PORT", "8000")), timeout=PATIENCE)
    host = os.environ.get("ALLOWED_HOSTS", "localhost").split(",")[0].strip().lstrip(".")
    try:
        connection.request("GET", path, headers={"Host": host, "X-Forwarded-Proto": "https"})
        reply = connection.getresponse()
        return reply.status == 200, reply.read().decode()
    except (OSError, http.client.HTTPException) as error:
        return False, f"It does not reply: {error}"
    finally:
        connection.close()


def worker(queues: str) -> bool:
    """Whether the worker of this container replies through the broker; a busy one does as well."""
    from celery import Celery

    name = f"{queues.replace(',', '-')}@{socket.gethostname()}"
    with Celery(broker=setting("BROKER_URL") or setting("REDIS_URL"), set_as_current=False) as app:
        app.conf.broker_connection_retry = False
        return bool(app.control.ping(destination=[name], timeout=PATIENCE))


def setting(name: str) -> str:
    """As `marcelcms.env.text` reads it."""
    file = os.environ.get(f"{name}_FILE")
    return Path(file).read_text(encoding="utf-8").strip() if file else os.environ.get(name, "")


if __name__ == "__main__":
    if sys.argv[1] == "worker":
        is_well = worker(sys.argv[2])
    elif sys.argv[1] == "ready":
        is_well, said = web("/health/ready")
        sys.stdout.write(f"{said}\n")
    else:
        is_well, _said = web()
    sys.exit(0 if is_well else 1)
