"""HTTP and websockets, as one ASGI application."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "marcelcms.settings")
# Before the settings are read: only web processes pool their connections, a forked worker must not share one.
os.environ.setdefault("DATABASE_POOL", "10")

from channels.routing import ProtocolTypeRouter, URLRouter
from channels.security.websocket import AllowedHostsOriginValidator
from django.core.asgi import get_asgi_application

django_application = get_asgi_application()

from chat.routing import websocket_urlpatterns  # noqa: E402  (needs the apps loaded)

application = ProtocolTypeRouter(
    {
        "http": django_application,
        "websocket": AllowedHostsOriginValidator(URLRouter(websocket_urlpatterns)),
    }
)
