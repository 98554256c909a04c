"""The public API: all that the widget does, over HTTP."""

from chat.api import cases, conversations, sessions, sse
from chat.api.openapi import PublicAPI
from chat.api.problems import add_handlers

api = PublicAPI(
    title="MarcelCMS",
    version="1",
    description="Ask a university's assistant. A session begins after consent (`POST session`); its token goes as "
    "`Authorization: Bearer` with everything else. Errors are problems as RFC 9457 says.",
    docs_url=None,
)
add_handlers(api)
for part in (sessions, conversations, cases, sse):
    api.add_router("", part.router)
