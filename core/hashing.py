"""Fingerprints of indexed content, so that unchanged content is not indexed again."""

import hashlib


def fingerprint(*parts: str) -> str:
    """Return 32 hex digits that identify the parts.

    The lengths are hashed too, so that ("ab", "c") and ("a", "bc") differ.
    """
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        encoded = part.encode("utf-8", "surrogatepass")
        digest.update(f"{len(encoded)}:".encode())
        digest.update(encoded)
    return digest.hexdigest()
