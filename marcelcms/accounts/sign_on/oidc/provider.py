"""The directory's OpenID Connect provider: its addresses and keys, and what is asked of it.

The libraries are loaded where they are used, since only a process that logs staff in needs them.
"""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlencode

from django.conf import settings
from django.core.cache import cache
from django.urls import reverse

from marcelcms.env import is_https_or_loopback

if TYPE_CHECKING:
    from authlib.integrations.requests_client import OAuth2Session

SECONDS = 10
KEPT_SECONDS = 3600
#: Keys are fetched anew for a token that none of them signed, and so often at most.
NEW_KEYS_SECONDS = 60
MOST_BYTES = 1_000_000
#: Endpoints that this server calls or sends browsers to.
ENDPOINTS = ("authorization_endpoint", "token_endpoint", "jwks_uri", "userinfo_endpoint", "end_session_endpoint")
NEEDED = ENDPOINTS[:3]


class ProviderUnavailable(Exception):
    """The provider cannot be reached, or does not answer as one does."""


class CodeRefused(Exception):
    """The provider does not take the code."""


def metadata() -> Mapping[str, Any]:
    """Return the discovery document, kept for an hour. Raise ProviderUnavailable, also if it speaks for another."""
    key = f"sign-on:metadata:{settings.OIDC_ISSUER}"
    if found := cache.get(key):
        return cast("Mapping[str, Any]", found)
    document = _get_json(f"{settings.OIDC_ISSUER.rstrip('/')}/.well-known/openid-configuration")
    if document.get("issuer") != settings.OIDC_ISSUER:
        raise ProviderUnavailable("it names another issuer")
    for name in ENDPOINTS:
        address = document.get(name)
        if address is None and name not in NEEDED:
            continue
        if not isinstance(address, str) or not is_https_or_loopback(address):
            raise ProviderUnavailable(f"its {name} is no https address")
    cache.set(key, document, KEPT_SECONDS)
    return document


def keys(*, anew: bool = False) -> Mapping[str, Any]:
    """Return the key set, kept for an hour; `anew` fetches it unless that was done a moment ago."""
    key = f"sign-on:keys:{settings.OIDC_ISSUER}"
    found = cache.get(key)
    if found and not (anew and cache.add(f"{key}:anew", value=True, timeout=NEW_KEYS_SECONDS)):
        return cast("Mapping[str, Any]", found)
    document = _get_json(metadata()["jwks_uri"])
    cache.set(key, document, KEPT_SECONDS)
    return document


def authorization_url(*, state: str, nonce: str, verifier: str) -> str:
    """Return where a browser is sent to log in: a code is asked for, with PKCE (RFC 7636)."""
    with _session() as session:
        url, _state = session.create_authorization_url(
            metadata()["authorization_endpoint"], state=state, nonce=nonce, code_verifier=verifier
        )
    return cast("str", url)


def exchange(code: str, *, verifier: str) -> Mapping[str, Any]:
    """Return the tokens for a code. Raise CodeRefused or ProviderUnavailable."""
    from authlib.common.errors import AuthlibBaseError
    from requests import RequestException

    known = metadata().get("token_endpoint_auth_methods_supported") or ["client_secret_basic"]
    with _session() as session:
        if settings.OIDC_CLIENT_SECRET and "client_secret_basic" not in known:
            session.token_endpoint_auth_method = "client_secret_post"  # noqa: S105
        try:
            return cast(
                "Mapping[str, Any]",
                session.fetch_token(
                    metadata()["token_endpoint"], code=code, code_verifier=verifier, allow_redirects=False
                ),
            )
        except AuthlibBaseError as error:
            raise CodeRefused(error.error or "") from error
        except (RequestException, ValueError) as error:
            raise ProviderUnavailable(type(error).__name__) from error


def user_info(access_token: str) -> Mapping[str, Any]:
    """Return what the provider says of who the token is for; empty where it has no such address."""
    address = metadata().get("userinfo_endpoint")
    return _get_json(address, {"Authorization": f"Bearer {access_token}"}) if address else {}


def end_session_url(id_token: str) -> str:
    """Return where a browser ends the session with the provider, and comes back from; empty where that is nowhere."""
    address = metadata().get("end_session_endpoint")
    if not address:
        return ""
    asked = {
        "id_token_hint": id_token,
        "client_id": settings.OIDC_CLIENT_ID,
        "post_logout_redirect_uri": f"{settings.PUBLIC_URL}{reverse('admin:login')}",
    }
    return f"{address}{'&' if '?' in address else '?'}{urlencode(asked)}"


def _session() -> "OAuth2Session":
    from authlib.integrations.requests_client import OAuth2Session

    return OAuth2Session(
        settings.OIDC_CLIENT_ID,
        settings.OIDC_CLIENT_SECRET or None,
        scope=settings.OIDC_SCOPES,
        redirect_uri=f"{settings.PUBLIC_URL}{reverse('sign-on-return')}",
        code_challenge_method="S256",
        default_timeout=SECONDS,
    )


def _get_json(address: str, headers: Mapping[str, str] | None = None) -> dict[str, Any]:
    import requests

    try:
        answer = requests.get(address, headers=headers, timeout=SECONDS, allow_redirects=False, stream=True)
        with answer:
            body = answer.raw.read(MOST_BYTES + 1, decode_content=True)
            if answer.status_code != requests.codes.ok or len(body) > MOST_BYTES:
                raise ProviderUnavailable(f"{address} answers with {answer.status_code}")
            document = json.loads(body)
    except (requests.RequestException, OSError, ValueError) as error:
        raise ProviderUnavailable(type(error).__name__) from error
    if not isinstance(document, dict):
        raise ProviderUnavailable(f"{address} answers with no object")
    return document
