import logging
from collections.abc import Awaitable, Callable
from typing import Any

from django.urls import path, re_path

from chat.websocket.consumer import ChatConsumer

logger = logging.getLogger(__name__)


async def refuse_unknown(
    _scope: dict[str, Any], receive: Callable[[], Awaitable[Any]], send: Callable[[Any], Awaitable[None]]
) -> None:
    """Refuse a socket at an address that none is at: Channels takes it for an error of the program."""
    await receive()
    logger.warning("socket refused reason=%s", "unknown path")
    await send({"type": "websocket.close"})


websocket_urlpatterns = [path("ws/chat", ChatConsumer.as_asgi()), re_path("", refuse_unknown)]  # type: ignore[arg-type]
