"""How letters are written; pure."""

import unicodedata
from typing import Any


def nfc(text: str) -> str:
    """Letters with marks as one character each (NFC), as our patterns have them: by two, a word would end within."""
    return unicodedata.normalize("NFC", text)


def strip_nul(value: Any) -> Any:
    """Without NUL, and with a question mark for half a surrogate pair, however deep in lists and objects.

    Raises RecursionError where it is nested too deeply.
    """
    if isinstance(value, str):
        return value.replace("\x00", "").encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {strip_nul(key): strip_nul(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [strip_nul(item) for item in value]
    return value


#: Words that a list is searched for: each costs a subquery, and whoever pastes a page finds it by its first words.
MOST_WORDS = 20


def search_words(text: str) -> list[str]:
    """Return the first different words of a search, MOST_WORDS at most."""
    return list(dict.fromkeys(text.replace("\x00", "").split()))[:MOST_WORDS]
