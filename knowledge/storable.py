"""What PostgreSQL can hold of a text, in one spelling; pure."""

import unicodedata
from typing import Any


def storable(value: Any) -> Any:
    """Without NUL, and with a question mark for half a surrogate pair, however deep in lists and objects. Letters with
    marks are one character each (NFC), as students type them: a search would not find the others.

    Raises RecursionError where it is nested too deeply.
    """
    if isinstance(value, str):
        return unicodedata.normalize("NFC", value.replace("\x00", "").encode("utf-8", "replace").decode())
    if isinstance(value, dict):
        return {storable(key): storable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [storable(item) for item in value]
    return value
