"""A security key in software: it makes and proves keys as a browser with one does (WebAuthn, attestation "none")."""

import hashlib
import json
import secrets
from typing import Any

import cbor2
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from webauthn.helpers import bytes_to_base64url

#: Somebody touched it; it knows who, by a finger or a PIN; and there is a new key in what follows.
PRESENT, VERIFIED, WITH_KEY = 0x01, 0x04, 0x40
COORDINATE = 32


class Authenticator:
    """`origin` is the page's; `count` is how often it was used."""

    def __init__(self, origin: str = "https://testserver", rp_id: str = "testserver") -> None:
        self.origin, self.rp_id, self.count = origin, rp_id, 0
        self.id = secrets.token_bytes(32)
        self._key = ec.generate_private_key(ec.SECP256R1())

    def make(self, options: dict[str, Any], *, flags: int = PRESENT | VERIFIED, **client: Any) -> str:
        """Return the reply to the options of `navigator.credentials.create`; `client` changes what the browser says."""
        numbers = self._key.public_key().public_numbers()
        cose = {1: 2, 3: -7, -1: 1, -2: numbers.x.to_bytes(COORDINATE), -3: numbers.y.to_bytes(COORDINATE)}
        key = bytes(16) + len(self.id).to_bytes(2) + self.id + cbor2.dumps(cose)
        held = {"fmt": "none", "attStmt": {}, "authData": self._data(flags | WITH_KEY) + key}
        said = self._client("webauthn.create", options, **client)
        return self._reply(clientDataJSON=said, attestationObject=cbor2.dumps(held))

    def prove(self, options: dict[str, Any], *, flags: int = PRESENT | VERIFIED, **client: Any) -> str:
        """Return the reply to the options of `navigator.credentials.get`."""
        self.count += 1
        data, said = self._data(flags), self._client("webauthn.get", options, **client)
        signature = self._key.sign(data + hashlib.sha256(said).digest(), ec.ECDSA(SHA256()))
        return self._reply(clientDataJSON=said, authenticatorData=data, signature=signature)

    def _data(self, flags: int) -> bytes:
        return hashlib.sha256(self.rp_id.encode()).digest() + bytes([flags]) + self.count.to_bytes(4)

    def _client(self, kind: str, options: dict[str, Any], **changed: Any) -> bytes:
        said = {"type": kind, "challenge": options["challenge"], "origin": self.origin, "crossOrigin": False}
        return json.dumps(said | changed).encode()

    def _reply(self, **parts: bytes) -> str:
        name = bytes_to_base64url(self.id)
        response = {part: bytes_to_base64url(value) for part, value in parts.items()}
        return json.dumps({"id": name, "rawId": name, "type": "public-key", "response": response})
