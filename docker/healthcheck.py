"""Is this container's process well? `healthcheck.py web` or `healthcheck.py worker QUEUES`; exit code 0 or 1.

Docker asks every few seconds, so it loads neither Django nor, for `web`, anything that is not Python's own.
"""

import http.client
import os
import socket
import sys
from pathlib import Path

PATIENCE = 4  # seconds


def web() -> bool:
    """Whether the server replies to /health/live, asked as its proxy asks it."""
    connection = http.client.HTTPConnection("127.0.0.1", int(os.environ.get("PORT", "8000")), timeout=PATIENCE)
    host = os.environ.get("ALLOWED_HOSTS", "localhost").split(",")[0].strip().lstrip(".")
    try:
        connection.request("GET", "/health/live", headers={"Host": host, "X-Forwarded-Proto": "https"})
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
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
    is_well = worker(sys.argv[2]) if sys.argv[1] == "worker" else web()
    sys.exit(0 if is_well else 1)
