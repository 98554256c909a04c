"""What the model streams, made safe: `[n]` resolved to sources as they are first used, web addresses dropped; pure.

A model writes numbers of candidates; students see numbers in the order of first use. A number without a candidate
goes, so an answer can only point at what was retrieved.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from chat.events import Cited, Delta, Source
from chat.prompts import DECLINE
from chat.sources import Candidate, as_source
from chat.wording import terms

MARKER = re.compile(r"[ \t]*\[(\d{1,3}(?:\s*[,;]\s*\d{1,3})*)\]")
LINK = re.compile(r"!?\[([^\]\n]{0,300})\]\([^)\n]{0,2000}\)")
URL = re.compile(r"(?:https?://|www\.)[^\s<>()\[\]]+", re.IGNORECASE)
#: Shares of an answer's terms that a first and a further source must hold to be named by us.
LEAST_SHARE, FURTHER_SHARE, MOST_ATTRIBUTED = 0.5, 0.15, 3
#: Past this an open bracket is text.
HELD_BACK = 400


class StreamResolver:
    """Takes text in pieces of any size, gives events whose deltas join to the same text however it was cut."""

    def __init__(self, candidates: Mapping[int, Candidate]) -> None:
        self._candidates = candidates
        self._pending = ""
        self._numbers: dict[int, int] = {}
        self.sources: list[Source] = []

    def cite(self, candidate: Candidate) -> Iterator[Cited | Delta]:
        """Names a source after the text, as if the model had."""
        yield from self._resolve(f" [{candidate.number}]")

    def feed(self, text: str) -> Iterator[Cited | Delta]:
        self._pending += text
        cut = self._safe_length()
        ready, self._pending = self._pending[:cut], self._pending[cut:]
        yield from self._resolve(ready)

    def finish(self) -> Iterator[Cited | Delta]:
        ready, self._pending = self._pending.rstrip(), ""
        yield from self._resolve(ready)

    def _safe_length(self) -> int:
        """How much is complete: up to the last white space that no open bracket reaches across."""
        text = self._pending
        end = max(text.rfind(" "), text.rfind("\n"), 0)
        opened = text.rfind("[", max(0, len(text) - HELD_BACK))
        if opened >= 0 and not re.match(r"\[[^\]]*\](?!\()(?=.)|\[[^\]]*\]\([^)]*\)", text[opened:], re.DOTALL):
            end = min(end, opened)
        while end > 0 and text[end - 1] in " \t":
            end -= 1  # the blanks before a marker go with it
        return end if len(text) - end <= 4 * HELD_BACK else len(text)

    def _resolve(self, text: str) -> Iterator[Cited | Delta]:
        text = URL.sub("", LINK.sub(r"\1", text))
        done = 0
        shown = ""
        for marker in MARKER.finditer(text):
            shown += text[done : marker.start()]
            done = marker.end()
            for number in map(int, re.findall(r"\d+", marker.group(1))):
                candidate = self._candidates.get(number)
                if candidate is None:
                    continue
                n = self._numbers.get(candidate.passage_id)
                if n is None:
                    if shown:
                        yield Delta(shown)
                        shown = ""
                    n = self._numbers[candidate.passage_id] = len(self._numbers) + 1
                    source = as_source(candidate, n=n)
                    self.sources.append(source)
                    yield Cited(source, candidate.passage_id, candidate.document_id)
                shown += f" [{n}]"
        shown += text[done:]
        if shown:
            yield Delta(shown)


def attribute(text: str, candidates: Sequence[Candidate]) -> list[Candidate]:
    """The sources of an answer whose model named none: those that hold most of its words, best first.

    Empty where no source holds at least half of the answer's terms: then it came from somewhere else.
    """
    said = terms(text)
    held = {candidate.number: said & terms(f"{candidate.label} {candidate.text}") for candidate in candidates}
    chosen: list[Candidate] = []
    covered: set[str] = set()
    while len(chosen) < MOST_ATTRIBUTED and said:
        best = max(candidates, key=lambda candidate: (len(held[candidate.number] - covered), -candidate.number))
        gain = len(held[best.number] - covered) / len(said)
        if gain < (FURTHER_SHARE if chosen else LEAST_SHARE):
            break
        chosen.append(best)
        covered |= held[best.number]
    return chosen


class VerdictReader:
    """Reads the verdict that begins a model's reply: `declined` is None until it can be told.

    Tolerant of quotes, brackets and full stops around the word; anything else is the beginning of an answer.
    """

    def __init__(self) -> None:
        self._seen = ""
        self.declined: bool | None = None

    def feed(self, text: str) -> str:
        """The part of the reply that is answer."""
        if self.declined is not None:
            return "" if self.declined else text
        self._seen += text
        head = self._seen.lstrip(" \n\t\"'`*[<(")
        if head.upper().startswith(DECLINE):
            self.declined = True
            return ""
        if head and not DECLINE.startswith(head.upper()):
            self.declined = False
            return self._seen.lstrip()
        return ""

    def finish(self) -> str:
        """What was held back, where the reply ended within the verdict; an empty reply is a refusal."""
        if self.declined is None:
            self.declined = not self._seen.strip()
            return self._seen.strip()
        return ""
