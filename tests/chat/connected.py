"""A connected program for tests: its row, and its key."""

from typing import Any

from chat.models import APIClient, Assistant
from chat.services.api_clients import make_client
from tests.factories import AssistantFactory


def connect(*assistants: Assistant, **fields: Any) -> tuple[APIClient, str]:
    """Return a new program that may use these assistants, and its key."""
    fields = {"name": "Open WebUI", "scopes": ["ask", "search"], **fields}
    client = APIClient(**fields)
    key = make_client(client=client)
    client.assistants.set(assistants)
    return client, key


def assistant_of(*slugs: str, slug: str = "study", **fields: Any) -> Assistant:
    """Return an assistant that answers from the collections with these slugs."""
    from knowledge.models import Collection

    made: Assistant = AssistantFactory(slug=slug, **fields)
    made.collections.set(Collection.objects.filter(slug__in=slugs))
    return made
