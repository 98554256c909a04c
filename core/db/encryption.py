"""Encryption of secrets that the server has to read again; the key is derived from SECRET_KEY."""

import base64
import hashlib
import hmac

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings
from django.utils.encoding import force_bytes

#: Tells this key from others that are derived from SECRET_KEY.
PURPOSE = b"marcelcms.core.encryption"


class Undecryptable(Exception):
    """The value was encrypted with another SECRET_KEY, or changed."""


def encrypt(text: str) -> str:
    return _cipher().encrypt(text.encode()).decode()


def decrypt(value: str) -> str:
    """Return the text. Raise Undecryptable."""
    try:
        return _cipher().decrypt(value).decode()
    except InvalidToken:
        raise Undecryptable from None


def _cipher() -> MultiFernet:
    keys = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    derived = (hmac.digest(force_bytes(key), PURPOSE, hashlib.sha256) for key in keys)
    return MultiFernet([Fernet(base64.urlsafe_b64encode(key)) for key in derived])
