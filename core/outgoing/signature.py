"""Signatures of the Standard Webhooks scheme, version 1 (https://www.standardwebhooks.com); pure."""

import base64
import hashlib
import hmac
import secrets

PREFIX = "whsec_"


def new_secret() -> str:
    """Return a new secret of 256 random bits, as receivers' libraries take it."""
    return PREFIX + base64.b64encode(secrets.token_bytes(32)).decode()


def sign(secret: str, *, message_id: str, timestamp: int, body: bytes) -> str:
    """Return the value of the header `webhook-signature`."""
    key = base64.b64decode(secret.removeprefix(PREFIX))
    signed = f"{message_id}.{timestamp}.".encode() + body
    return "v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()
