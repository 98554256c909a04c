"""Example messages by kind and language, from which cries for help are recognised."""

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from chat.models import ORDINARY
from core.hashing import fingerprint

FOLDER = Path(__file__).parent / "examples"
#: Examples of greetings, complaints and the like (`kind_classifier`).
KINDS = FOLDER / "kinds"


@dataclass(frozen=True, slots=True)
class Example:
    """`kind` is one of those that are looked for, or `chat.models.ORDINARY`."""

    text: str
    kind: str
    language: str


@cache
def read_examples(folder: Path) -> tuple[Example, ...]:
    """Return the examples of a folder, in the order of its files: `[kind]` with a list of `examples` each.

    A file has the name of its language.
    """
    examples = []
    for path in sorted(folder.glob("*.toml")):
        for kind, table in tomllib.loads(path.read_text("utf-8")).items():
            examples += [Example(text, kind, path.stem) for text in table["examples"]]
    return tuple(examples)


def load_examples() -> tuple[Example, ...]:
    """Return all cries for help, and ordinary messages; the kinds are those of `Need`, and ORDINARY."""
    return read_examples(FOLDER)


@cache
def load_help_examples() -> tuple[Example, ...]:
    """Return these, and small talk, complaints and wishes for a person, which are ORDINARY beside cries for help."""
    others = (replace(each, kind=ORDINARY) for each in read_examples(KINDS) if each.kind != ORDINARY)
    return (*load_examples(), *others)


def fingerprint_of(examples: Iterable[Example]) -> str:
    """Return what changes when an example does."""
    return fingerprint(*(part for each in examples for part in (each.language, each.kind, each.text)))


def fingerprint_of_examples() -> str:
    """Return what changes when an example that cries for help are recognised by does."""
    return fingerprint_of(load_help_examples())
