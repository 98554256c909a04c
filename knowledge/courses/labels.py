"""The labels of modules' records, and the fields of a course that they lead to; the table is labels.toml."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

TABLE = Path(__file__).with_name("labels.toml")
#: What has no field: it stays in the document alone.
LEFT = "left"
LONGEST_LABEL = 90
#: What may stand before a label, as in “3.1 Contents” or “4) Contents”, and behind it, as in “Workload (h)”.
NUMBER = re.compile(r"^(?:\d{1,2}|[a-z])(?:\.\d{1,2})*[.)]?\s+(?=\D)")
BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
EMPHASIS = re.compile(r"[*_`]+")


@dataclass(frozen=True, slots=True)
class Label:
    """`kind` is plain, said (the field alone does not say what it says) or the language that a name is in."""

    field: str
    kind: str
    words: str


def find_label(words: str) -> Label | None:
    """Return the label that these words are, as the text has them, or None."""
    if len(words) > LONGEST_LABEL:
        return None
    shown = NUMBER.sub("", EMPHASIS.sub("", words).strip()).strip(" :")
    found = _table().get(_key(shown))
    return Label(*found, shown) if found else None


@cache
def _table() -> Mapping[str, tuple[str, str]]:
    read = tomllib.loads(TABLE.read_text("utf-8"))
    return {
        _key(words): (field, kind)
        for field, kinds in read.items()
        for kind, labels in kinds.items()
        for words in labels
    }


def _key(words: str) -> str:
    return "".join(re.findall(r"[^\W_]+", BRACKETS.sub("", words).casefold()))
