"""Common words of English and German, which are no slips of spelling though no page has them; pure."""

import gzip
from functools import cache
from importlib.resources import files

LANGUAGES = ("en", "de")


class Dictionary:
    """The words of one of pyspellchecker's lists: sorted lines such as `    "word": 42,`, looked up by bisection.

    The list stays the one string that it is read as (3 and 7 MB): a set of its words would take five times as much.
    """

    def __init__(self, listed: bytes) -> None:
        self._lines = listed[listed.index(b"\n") + 1 : listed.rindex(b"\n")]

    def __contains__(self, word: str) -> bool:
        wanted = word.encode()
        low, high = 0, len(self._lines)
        while low < high:
            middle = (low + high) // 2
            start = self._lines.rfind(b"\n", 0, middle) + 1
            end = self._lines.find(b"\n", middle)
            end = len(self._lines) if end < 0 else end
            found = self._lines[start:end].split(b'"')[1]
            if found == wanted:
                return True
            low, high = (end + 1, high) if found < wanted else (low, start)
        return False


@cache
def _dictionaries() -> list[Dictionary]:
    folder = files("spellchecker") / "resources"
    return [Dictionary(gzip.decompress((folder / f"{language}.json.gz").read_bytes())) for language in LANGUAGES]


def is_common_word(word: str) -> bool:
    """Return whether English or German has a word, in lower case and in this inflection."""
    return any(word in dictionary for dictionary in _dictionaries())
