"""How letters are written; pure."""

import unicodedata


def composed(text: str) -> str:
    """Letters with marks as one character each (NFC), as our patterns have them: by two, a word would end within."""
    return unicodedata.normalize("NFC", text)
