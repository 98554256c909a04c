"""HTTP and websockets, as one ASGI application."""

import asyncio
import gc
import os
import threading
from contextlib import suppress

from marcelcms import env

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "marcelcms.settings")
# Before the settings are read: only web processes pool their connections, a forked worker must not share one.
os.environ.setdefault("DATABASE_POOL", str(env.WEB_POOL))

from channels.routing import ProtocolTypeRouter, URLRouter
from django.conf import settings
from django.core.asgi import get_asgi_application
from django.db import OperationalError, connection

django_application = get_asgi_application()
# As while the apps are loaded (`marcelcms.apps`): what is loaded now stays, too.
gc.disable()

from chat.mcp_server.door import with_mcp  # noqa: E402
from chat.pipeline.loading import load_for_questions  # noqa: E402
from chat.streaming import runner  # noqa: E402  (needs the apps loaded)
from chat.websocket.routing import websocket_urlpatterns  # noqa: E402
from core.inference import verifier  # noqa: E402
from marcelcms.checks import refuse_unsafe  # noqa: E402
from marcelcms.observability.asgi import Receive, Scope, Send, observed  # noqa: E402
from marcelcms.observability.tracing import send_traces  # noqa: E402

#: An endpoint for embeddings that is away keeps nobody from starting.
WARM_SECONDS = 20.0

refuse_unsafe()
send_traces()


def warm_up() -> None:
    """Load what takes a second at its first use, so that no student waits for it."""
    try:
        load_for_questions()
        if verifier.is_configured():
            verifier.get_verifier()
        if settings.DATABASE_POOL:
            _open_pool()
    finally:
        gc.freeze()
        gc.enable()


def _open_pool() -> None:
    """Connect once: a name may take seconds to be looked up for the first time, as long as the pool waits."""
    with suppress(OperationalError):  # a database that is away keeps nobody from starting
        connection.ensure_connection()
    connection.close()


async def until_answered(_scope: Scope, receive: Receive, send: Send) -> None:
    """Handle ASGI's lifespan: a server begins with its model loaded, since others may answer meanwhile; one that stops
    has closed its sockets and waits for the answers in progress."""
    while (message := await receive())["type"] != "lifespan.shutdown":
        await asyncio.to_thread(warming.join, WARM_SECONDS)
        await send({"type": f"{message['type']}.complete"})
    await runner.finish(seconds=settings.STOP_SECONDS)
    await send({"type": "lifespan.shutdown.complete"})


# No daemon: a process that ends while a model is being loaded would abort.
warming = threading.Thread(target=warm_up, name="warm-up")
warming.start()

application = observed(
    ProtocolTypeRouter(
        {
            "lifespan": until_answered,
            "http": with_mcp(django_application),
            "websocket": URLRouter(websocket_urlpatterns),
        }
    )
)
