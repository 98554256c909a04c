"""What the stub of a language model says: sentences of the page, in a fixed order, so that each is proven and shown."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

#: One for each number: its second word is found in no other.
ROOMS = ("amber", "birch", "cedar", "daisy", "ebony", "fern", "ginger", "hazel", "indigo", "jasmine")
SENTENCES = tuple(f"The {room} desk takes the contribution from every student of its own floor." for room in ROOMS)
#: Words of a sentence with its citation, and of a short answer.
WORDS = len(SENTENCES[0].split()) + 1
NAME = re.compile(rf"\bThe ({'|'.join(ROOMS)}) desk\b")
PAGE = {
    "url": "https://www.uni.example/fees",
    "title": "Semester contribution",
    "text": "# Semester contribution\n\nThe semester contribution is 318.40 euros each semester. "
    + " ".join(SENTENCES),
}
#: The number in a question, by which the stub's times are found again.
ASKED = re.compile(r"semester contribution in (\d+)\?")


def question(number: int) -> str:
    """Return a question that nobody asked before: its vector is made anew."""
    return f"How much is the semester contribution in {number}?"


def words(count: int) -> list[str]:
    """Return the words of so many sentences, each with a blank; the last one of a sentence is its citation."""
    return [f"{word} " for n in range(count) for word in f"{SENTENCES[n % len(SENTENCES)]} [1]".split()]


def named(text: str) -> list[int]:
    """Return the places in SENTENCES of those that a piece of an answer holds the beginnings of."""
    return [ROOMS.index(name) for name in NAME.findall(text)]


@dataclass(frozen=True, slots=True)
class Sent:
    """When the stub was asked, and when it had sent each whole sentence; on this machine's monotonic clock."""

    asked: float
    sentences: tuple[float, ...]


def read_sent(log: Path) -> dict[int, Sent]:
    """Return what the stub wrote of each question, by its number."""
    rows = map(json.loads, log.read_text().splitlines())
    return {row["question"]: Sent(row["asked"], tuple(row["sentences"])) for row in rows}
