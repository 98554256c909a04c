"""Example messages by kind and language, from which cries for help are recognised."""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from core.hashing import fingerprint

FOLDER = Path(__file__).parent / "examples"
#: The kind of every message that is no cry for help.
ORDINARY = "ordinary"


@dataclass(frozen=True, slots=True)
class Example:
    """`kind` is one of `Need`, or ORDINARY."""

    text: str
    kind: str
    language: str


@cache
def load_examples() -> tuple[Example, ...]:
    """Return all examples, in the order of the files: one a language, `[kind]` with a list of `examples` each."""
    examples = []
    for path in sorted(FOLDER.glob("*.toml")):
        for kind, table in tomllib.loads(path.read_text("utf-8")).items():
            examples += [Example(text, kind, path.stem) for text in table["examples"]]
    return tuple(examples)


def fingerprint_of_examples() -> str:
    """Return what changes when an example does."""
    return fingerprint(*(part for each in load_examples() for part in (each.language, each.kind, each.text)))
