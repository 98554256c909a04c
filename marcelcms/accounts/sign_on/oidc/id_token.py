"""Checks ID tokens: the signature, the audience and the times come first, and only then is anything else read.

The libraries are loaded where they are used, since only a process that logs staff in needs them.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from joserfc.jwk import KeySet

#: Signatures by a key pair; none, and those by a secret that a public key could pass for (HS256), are not among them.
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "Ed25519", "EdDSA")
#: Seconds by which clocks may differ.
LEEWAY = 60
#: A token is used at once; one that was made longer ago, in seconds, was kept by somebody.
OLDEST = 600
#: As the specification limits it; a NUL can be in no row.
SUBJECT_LETTERS = 255


class InvalidToken(Exception):
    """The token proves nothing; the text says why, without a word of the token."""


def read_id_token(
    token: str,
    *,
    keys: Callable[[bool], Mapping[str, Any]],
    issuer: str,
    client_id: str,
    nonce: str,
    access_token: str,
    now: int,
) -> dict[str, Any]:
    """Return the claims. `keys` returns the provider's key set, fetched anew if True. Raise InvalidToken."""
    from authlib.oidc.core import CodeIDToken
    from joserfc.errors import JoseError

    try:
        header, claims = _verified(token, keys)
        options: dict[str, Any] = {
            "iss": {"essential": True, "value": issuer},
            "aud": {"essential": True, "value": client_id},
            "sub": {"essential": True, "allow_blank": False},
        }
        params = {"nonce": nonce, "client_id": client_id, "access_token": access_token}
        CodeIDToken(claims, header, options, params).validate(now=now, leeway=LEEWAY)
    except (JoseError, ValueError, TypeError, KeyError, AttributeError) as error:
        # What libraries say may quote the token.
        raise InvalidToken(getattr(error, "error", "") or type(error).__name__) from error
    if len(claims["sub"]) > SUBJECT_LETTERS or "\x00" in claims["sub"]:
        raise InvalidToken("sub")
    if isinstance(claims["aud"], list) and set(claims["aud"]) != {client_id}:
        raise InvalidToken("aud names others too")
    if claims["iat"] < now - OLDEST:
        raise InvalidToken("it is old")
    return claims


def _verified(token: str, keys: Callable[[bool], Mapping[str, Any]]) -> tuple[Mapping[str, Any], dict[str, Any]]:
    """Return header and claims; a key that is not known may have followed another, so keys are fetched anew once."""
    from joserfc import jwt
    from joserfc.errors import BadSignatureError, InvalidKeyIdError
    from joserfc.jws import JWSRegistry

    registry = JWSRegistry(algorithms=ALGORITHMS, strict_check_header=False)
    try:
        read = jwt.decode(token, _signing(keys(False)), registry=registry)
    except (InvalidKeyIdError, BadSignatureError):
        read = jwt.decode(token, _signing(keys(True)), registry=registry)
    return read.header, read.claims


def _signing(keys: Mapping[str, Any]) -> "KeySet":
    """Return the public keys for signatures; a provider may publish others beside them."""
    from joserfc.jwk import KeySet

    found = [key for key in keys["keys"] if key.get("kty") in {"RSA", "EC", "OKP"} and key.get("use", "sig") == "sig"]
    return KeySet.import_key_set({"keys": found})
