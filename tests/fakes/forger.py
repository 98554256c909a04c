"""An OpenID Connect provider that signs whatever a test wants it to, and answers as an attacker would have it."""

import base64
import hashlib
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs

from joserfc import jws
from joserfc.jwk import RSAKey

from tests.fakes.oidc import CLIENT_ID

ACCESS_TOKEN = "an-access-token"


def half_hash(text: str) -> str:
    """Return the at_hash of an access token for an ID token signed with RS256."""
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()[:16]).rstrip(b"=").decode()


@cache
def key_pair(name: str) -> RSAKey:
    """Return a key of this name, made once: making one takes a tenth of a second."""
    return RSAKey.generate_key(2048, {"kid": name, "use": "sig"})


class Forger:
    """What it answers to each of the product's requests; the tests change it."""

    def __init__(self, issuer: str) -> None:
        self.issuer = issuer
        self.key = key_pair("first")
        self.published = [self.key]
        self.metadata: dict[str, Any] = {
            "issuer": issuer,
            "authorization_endpoint": f"{issuer}/authorize",
            "token_endpoint": f"{issuer}/token",
            "jwks_uri": f"{issuer}/keys",
        }
        self.tokens: dict[str, Any] = {}
        self.user_info: dict[str, Any] = {}
        self.asked: list[tuple[str, dict[str, list[str]]]] = []

    def claims(self, for_nonce: str, **changed: Any) -> dict[str, Any]:
        """Return the claims of an honest token, but for `changed`; None leaves one out."""
        now = int(time.time())
        honest = {"iss": self.issuer, "aud": CLIENT_ID, "sub": "4711", "nonce": for_nonce, "iat": now, "exp": now + 300}
        named = {"email": "bo.berg@uni.example", "email_verified": True, "groups": ["law-web"]}
        claims = honest | named | {"at_hash": half_hash(ACCESS_TOKEN)} | changed
        return {name: value for name, value in claims.items() if value is not None}

    def sign(self, claims: dict[str, Any], *, key: Any = None, **header: Any) -> str:
        used = {"alg": "RS256", "kid": "first"} | header
        registry = jws.JWSRegistry(algorithms=[str(used["alg"])], strict_check_header=False)
        payload = json.dumps(claims).encode()
        return jws.serialize_compact(used, payload, key or self.key, registry=registry)

    def answer(self, path: str) -> tuple[int, dict[str, Any]]:
        if path == "/.well-known/openid-configuration":
            return 200, self.metadata
        if path == "/keys":
            return 200, {"keys": [key.as_dict(private=False) for key in self.published]}
        if path == "/token":
            return (200, self.tokens) if self.tokens else (400, {"error": "invalid_grant"})
        return 200, self.user_info


@contextmanager
def running_forger() -> Iterator[Forger]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            forger.asked.append((self.path, parse_qs(self.rfile.read(length).decode())))
            status, document = forger.answer(self.path)
            body = json.dumps(document).encode()
            self.send_response(status)
            if place := document.get("Location"):
                self.send_header("Location", place)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET

        def log_message(self, *_args: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        forger = Forger(f"http://127.0.0.1:{server.server_port}")
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield forger
        server.shutdown()
        thread.join()
