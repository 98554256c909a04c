"""Services for programs that ask with a key: make one, find whose key it is, count what it asks."""

from django.db import DEFAULT_DB_ALIAS, transaction

from chat.models import APIClient, Assistant, Visitor
from chat.models.api_clients import new_key, read_key_id
from chat.sites import rate_limits
from core.db.prepared import in_database
from core.db.reading import read_current
from core.db.tokens import hash_token

Scope = APIClient.Scope


class InvalidKey(Exception):
    """No client has the key, or it is switched off or over."""


class MissingScope(Exception):
    """The client may not do that; the message is the scope."""


@transaction.atomic
def make_client(*, client: APIClient) -> str:
    """Save a new client with a key and a visitor of its own; return the key, which is kept nowhere."""
    key = new_key()
    client.key_id, client.digest = read_key_id(key), hash_token(key)
    client.visitor = Visitor.objects.create()
    client.full_clean(exclude=["assistants"])
    client.save(force_insert=True)
    return key


def read_bearer(authorization: str) -> str:
    """Return the key in the header `Authorization`; empty if there is none."""
    scheme, _space, key = authorization.partition(" ")
    return key.strip() if scheme.lower() == "bearer" else ""


def find_client(key: str) -> APIClient:
    """Return the client with that key. Raise InvalidKey."""
    named = read_key_id(key)
    rows = APIClient.objects.filter(key_id=named, is_active=True)
    client = read_current(rows.first) if "\0" not in named else None
    if client is None or not client.matches(key) or client.is_expired:
        raise InvalidKey
    if client._state.db == DEFAULT_DB_ALIAS:  # else nothing can be written
        client.note_use()
    return client


async def identify(key: str, *, scope: Scope) -> APIClient:
    """Return the client with that key, if it may do this. Raise InvalidKey, MissingScope."""
    client: APIClient = await in_database(find_client)(key)
    if scope not in client.scopes:
        raise MissingScope(scope.value)
    return client


async def count(client: APIClient) -> None:
    """Count a question or search. Raise TooMany past what the client may send in a minute, and redis.RedisError."""
    await rate_limits.count_client(client.pk, most=client.per_minute)


def list_assistants(client: APIClient) -> list[Assistant]:
    return list(client.assistants.order_by("slug"))


def find_assistant(client: APIClient, slug: str) -> Assistant | None:
    """Return the assistant by its short name; None if there is none, or the client may not use it."""
    rows = client.assistants.select_related("prompt", "profile")
    return rows.filter(slug=slug).first() if "\0" not in slug else None
