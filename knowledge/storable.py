"""What PostgreSQL can hold of a text; pure."""

from typing import Any


def storable(value: Any) -> Any:
    """Without NUL, and with a question mark for half a surrogate pair, however deep in lists and objects.

    Raises RecursionError where it is nested too deeply.
    """
    if isinstance(value, str):
        return value.replace("\x00", "").encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {storable(key): storable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [storable(item) for item in value]
    return value
