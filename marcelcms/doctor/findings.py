"""Findings of the doctor."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Finding:
    """`what` was looked at, `said` what was seen, `todo` what to do about it; empty where all is well."""

    level: Level
    what: str
    said: str
    todo: str = ""


#: May raise errors of the database, of Valkey, or OSError: what is looked at is away.
Look = Callable[[], Iterator[Finding]]


def ok(what: str, said: str) -> Finding:
    return Finding(Level.OK, what, said)


def warn(what: str, said: str, todo: str) -> Finding:
    return Finding(Level.WARN, what, said, todo)


def fail(what: str, said: str, todo: str) -> Finding:
    return Finding(Level.FAIL, what, said, todo)
