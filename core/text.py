"""Text: normalised, split for a search, and written as Markdown; pure."""

import re
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


#: Characters that Markdown reads as markup: what pages are called is text.
MARKUP = re.compile(r"([\\`*_\[\]<>#|!~])")
ENDS_LINK = re.compile(r"[\s()<>\\]")


def escape_markdown(text: str) -> str:
    """Write a text so that Markdown shows it as it is, on one line."""
    return MARKUP.sub(r"\\\1", " ".join(text.split()))


def write_link(title: str, url: str) -> str:
    """Write a Markdown link that neither its title nor its address ends early; without an address, the title alone."""
    address = ENDS_LINK.sub(lambda found: f"%{ord(found[0]):02X}", url)
    return f"[{escape_markdown(title)}]({address})" if url else escape_markdown(title)
