"""Passages as a prompt shows them to a language model, and the form that it must answer in; pure."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


class WrongAnswer(ValueError):
    """The answer is not in the form that was asked for; `reason` is a code."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Source:
    """A passage that a model is asked about; `input_hash` is of title, headings and text."""

    input_hash: str
    title: str
    heading: str
    text: str


def new_fence() -> str:
    """What stands around data: it is random, so that no text can close it."""
    return f"<<{secrets.token_hex(4)}>>"


def fenced(sources: Sequence[Source]) -> str:
    """Passages numbered from 1."""
    fence = new_fence()
    return "\n\n".join(
        f"Passage {number}, between two lines of {fence}:\n{fence}\n"
        f"Title: {source.title}\nHeadings: {source.heading}\n\n{source.text}\n{fence}"
        for number, source in enumerate(sources, start=1)
    )


def entries_of(data: Any, name: str) -> list[Any]:
    """The list of that name in an answer; raises WrongAnswer where there is none."""
    if data is None:
        raise WrongAnswer("no_json")
    entries = data.get(name) if isinstance(data, dict) else None
    if not isinstance(entries, list):
        raise WrongAnswer(f"no_{name}")
    return entries
