"""Secrets of apps, and the codes that they make."""

import base64
import secrets

import pyotp
from django.utils.crypto import constant_time_compare

STEP_SECONDS = 30
#: Steps by which the clock of a phone may be wrong, each way.
DRIFT = 1
#: Random bytes of a recovery code; base32 makes sixteen letters and digits of them.
RECOVERY_BYTES, RECOVERY_CODES = 10, 10
ISSUER = "MarcelCMS"


def new_secret() -> str:
    """Return 160 random bits in base32."""
    return pyotp.random_base32()


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
