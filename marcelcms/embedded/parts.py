"""The parts of `make run`, each a function that runs until it is told to stop, in a process of its own.

What they need is loaded once, by `load` in the process that starts them: on Linux they are forked from it, so that
they begin at once and share its code and its models. Elsewhere each loads it again (`python -m ... NAME ARGUMENT...`).
"""

import ctypes
import gc
import importlib
import os
import platform
import resource
import socket
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from signal import SIGTERM
from typing import Any

from marcelcms import env
from marcelcms.embedded.forking import fork
from marcelcms.embedded.processes import Process, spawn

M_ARENA_MAX = -8
HOST = "127.0.0.1"
#: Words are not compressed each for itself: it saves no packet, and costs time and memory of every socket.
WEBSOCKETS: dict[str, Any] = {"ws": "websockets-sansio", "ws_max_size": 131072, "ws_per_message_deflate": False}
#: It begins without asking other workers what they know, and waiting a second for their replies.
WORKER_OPTIONS = ("--without-mingle", "--without-gossip")
#: What a task may take beyond what is shared, before its process is replaced.
TASK_KIB = 50_000
#: What the parts would import by themselves, as soon as they run or with their first task.
MODULES = (
    "celery.apps.beat",
    "celery.apps.worker",
    "celery.bin.celery",
    "celery.concurrency.prefork",
    "chat.pipeline.run",
    "knowledge.indexing.documents",
    "kombu.transport.redis",
    "marcelcms.schedule",
    "onnxruntime",
    "psycopg_pool",
    "sentencepiece",
    "tantivy",
    "tokenizers",
    "uvicorn.protocols.http.httptools_impl",
    "uvicorn.protocols.websockets.websockets_sansio_impl",
    "uvloop",
)


def load() -> None:
    """Import the product. The settings are read, so the addresses of the servers must be known."""
    import django

    if platform.system() == "Linux":
        # Each thread would get memory of its own, up to eight times the cores; most of it stays empty.
        ctypes.CDLL(None).mallopt(M_ARENA_MAX, 2)
    django.setup()
    from django.conf import settings

    # As while the apps are loaded (`marcelcms.apps`): what is loaded now stays, too.
    gc.disable()
    for module in (settings.ROOT_URLCONF, "chat.websocket.routing", "chat.mcp_server.door", *MODULES):
        importlib.import_module(module)
    gc.enable()


def load_models() -> None:
    """Load what questions need, where a forked process may use the models."""
    from chat.pipeline.loading import load_for_questions

    if _models_are_shared():
        load_for_questions()


def freeze() -> None:
    """Have the collector leave alone what is shared: its marks would copy every page."""
    gc.collect()
    gc.freeze()


def start(
    name: str, part: Callable[..., None], *arguments: str, log: Path, signals: Sequence[int] = (SIGTERM,)
) -> Process:
    """Start a part."""
    if platform.system() == "Linux":
        return fork(name, part, arguments, log=log, signals=signals, patience=4)
    command = [sys.executable, "-m", "marcelcms.embedded.parts", part.__name__, *arguments]
    return spawn(name, command, log=log, env=os.environ, signals=signals, patience=4)


def manage(*arguments: str) -> None:
    """Run a management command."""
    from django.core.management import execute_from_command_line

    execute_from_command_line(["manage.py", *arguments])


def tables() -> None:
    """Make the tables of an empty database, and apply the migrations that are missing."""
    manage("migrate", "--noinput")


def web(port: str) -> None:
    """Serve HTTP and websockets."""
    import uvicorn
    from django.conf import settings

    _name_connections()
    if not settings.DATABASE_POOL:
        env.use_pools(settings.DATABASES, env.WEB_POOL)
    uvicorn.run(
        "marcelcms.asgi:application",
        host=HOST,
        port=int(port),
        proxy_headers=False,  # whom to believe about a visitor's address is for TRUSTED_PROXIES alone
        log_config=None,  # the settings have one
        access_log=False,
        timeout_graceful_shutdown=2,
        **WEBSOCKETS,
    )


def worker(name: str, queues: str, tasks: str) -> None:
    """Work on queues, so many tasks at once."""
    options = ["--queues", queues, "--concurrency", tasks, "--hostname", f"{name}@{socket.gethostname()}"]
    options += WORKER_OPTIONS
    if _models_are_shared():
        # A process that took much more for a task is replaced by a new one, which is there at once.
        limit = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss + TASK_KIB
        options += ["--max-memory-per-child", str(limit)]
    _celery("worker", *options)


def beat() -> None:
    """Queue what is due."""
    _celery("beat")


def socket_options() -> list[str]:
    """Return what uvicorn's own command is told about websockets."""
    return [part for name, value in WEBSOCKETS.items() for part in (f"--{name.replace('_', '-')}", str(value).lower())]


def _models_are_shared() -> bool:
    """Return whether the models compute in the thread that asks: threads of their own would not come along."""
    from django.conf import settings

    from core.inference.embeddings import BUILT_IN, configured_model

    is_forked = platform.system() == "Linux"
    return is_forked and configured_model() in BUILT_IN and settings.EMBEDDING_THREADS == 1


def _celery(*arguments: str) -> None:
    from celery.bin.celery import main

    _name_connections()
    command, *options = arguments
    sys.argv = ["celery", "-A", "marcelcms", command, "--loglevel", "WARNING", *options]
    main()


def _name_connections() -> None:
    """Have the database know the connections by this process and not by the one that loaded the settings."""
    from django.conf import settings

    for database in settings.DATABASES.values():
        if database["OPTIONS"]["application_name"].startswith("marcelcms "):
            database["OPTIONS"]["application_name"] = env.connection_name()


if __name__ == "__main__":
    load()
    PARTS: dict[str, Callable[..., None]] = {
        part.__name__: part for part in (beat, load_models, manage, tables, web, worker)
    }
    PARTS[sys.argv[1]](*sys.argv[2:])
