"""Normalisation of text; pure."""

import unicodedata
from typing import Any


def nfc(text: str) -> str:
    """Normalise to NFC: a letter with its mark is one character, so that patterns do not split words within."""
    return unicodedata.normalize("NFC", text)


def strip_nul(value: Any) -> Any:
    """Replace NUL by nothing and lone surrogates by question marks, however deep in lists and objects.

    Raises RecursionError if it is nested too deeply.
    """
    if isinstance(value, str):
        return value.replace("\x00", "").encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {strip_nul(key): strip_nul(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [strip_nul(item) for item in value]
    return value


#: Words of a search in a list: each costs a subquery, and the first words of a pasted page find it.
MOST_WORDS = 20


def search_words(text: str) -> list[str]:
    """Return the first different words of a search, MOST_WORDS at most."""
    return list(dict.fromkeys(text.replace("\x00", "").split()))[:MOST_WORDS]
