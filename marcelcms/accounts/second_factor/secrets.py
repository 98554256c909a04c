"""Secrets of apps at rest, and the codes that they make."""

import base64
import secrets

import pyotp
from cryptography.fernet import Fernet, InvalidToken
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings
from django.utils.crypto import constant_time_compare

STEP_SECONDS = 30
#: Steps by which the clock of a phone may be wrong, each way.
DRIFT = 1
#: Random bytes of a recovery code; base32 makes sixteen letters and digits of them.
RECOVERY_BYTES, RECOVERY_CODES = 10, 10
ISSUER = "MarcelCMS"


class Unreadable(Exception):
    """The secret was encrypted with another SECRET_KEY."""


def new_secret() -> str:
    """Return 160 random bits in base32."""
    return pyotp.random_base32()


def encrypt(secret: str) -> str:
    return _fernet().encrypt(secret.encode()).decode()


def decrypt(encrypted: str) -> str:
    """Raise Unreadable."""
    try:
        return _fernet().decrypt(encrypted.encode()).decode()
    except InvalidToken as error:
        raise Unreadable from error


def _fernet() -> Fernet:
    """Return a cipher (AES-128 and HMAC) with a key of its own, derived from SECRET_KEY (HKDF, RFC 5869)."""
    derived = HKDF(SHA256(), 32, salt=None, info=b"marcelcms second factor").derive(settings.SECRET_KEY.encode())
    return Fernet(base64.urlsafe_b64encode(derived))


def matching_step(secret: str, code: str, *, now: float, after: int) -> int | None:
    """Return the time step, later than `after`, whose code this is; None if it is none's."""
    current, maker, found = int(now // STEP_SECONDS), pyotp.TOTP(secret), None
    for step in range(current - DRIFT, current + DRIFT + 1):
        if constant_time_compare(maker.generate_otp(step), code) and step > after:
            found = step
    return found


def address(secret: str, name: str) -> str:
    """Return what the QR code says to an app."""
    return pyotp.TOTP(secret).provisioning_uri(name=name, issuer_name=ISSUER)


def new_recovery_codes() -> list[str]:
    return ["-".join(_fours(_letters())) for _code in range(RECOVERY_CODES)]


def _letters() -> str:
    return base64.b32encode(secrets.token_bytes(RECOVERY_BYTES)).decode().lower()


def _fours(text: str) -> list[str]:
    return [text[start : start + 4] for start in range(0, len(text), 4)]


def spaced(secret: str) -> str:
    """Return a secret as people type it off."""
    return " ".join(_fours(secret))


def plain(typed: str) -> str:
    """Return a code as it is compared, however it was typed."""
    return "".join(letter for letter in typed.lower() if letter.isalnum())
