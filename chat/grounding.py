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

#: `[1]`, `[1, 2]` with the blanks before it, also as a link; or any other link.
TOKEN = re.compile(
    r"[ \t]*\[(?P<numbers>\d{1,3}(?:[ \t]*[,;][ \t]*\d{1,3})*)\](?:\([^)\[\n]{0,1000}\))?"
    r"|!?\[(?P<label>[^\[\]\n]{0,300})\]\([^)\[\n]{0,1000}\)"
)
#: What may yet become a token.
BEGUN = re.compile(r"!?\[[^\[\]\n]{0,300}(?:\](?:\([^)\[\n]{0,1000})?)?$")
URL = re.compile(r"(?:https?://|www\.)[^\s<>()\[\]]+", re.IGNORECASE)
#: After this nothing more of a word can follow.
WORD_ENDS = re.compile(r"[.,;:!?)]*(?:\s|$)")
#: Shares of an answer's terms that a first and a further source must hold to be named by us.
LEAST_SHARE, FURTHER_SHARE, MOST_ATTRIBUTED = 0.5, 0.15, 3
#: Past this a word is shown before it ends.
HELD_BACK = 1600


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
        if len(self._pending) > HELD_BACK:
            ready, self._pending = self._pending, ""
            yield from self._resolve(ready + " ")  # no address may come of it and what follows

    def finish(self) -> Iterator[Cited | Delta]:
        ready, self._pending = self._pending.rstrip(), ""
        yield from self._resolve(ready)

    def _safe_length(self) -> int:
        """How much is complete: up to the last white space that is in no token, and none that may yet become one."""
        text = self._pending
        begun = BEGUN.search(text)
        end = _last_space(text, begun.start() if begun else len(text))
        for token in reversed([*TOKEN.finditer(text)]):
            if token.start() < end < token.end():
                end = _last_space(text, token.start())
        return len(text[:end].rstrip(" \t"))  # the blanks before a marker go with it

    def _resolve(self, text: str) -> Iterator[Cited | Delta]:
        done = 0
        shown = ""
        for token in TOKEN.finditer(text):
            shown += text[done : token.start()]
            done = token.end()
            if token["numbers"] is None:
                shown += token["label"]
                continue
            known = [number for number in map(int, re.findall(r"\d+", token["numbers"])) if number in self._candidates]
            if not known:  # what it stood between must not make an address
                shown = URL.sub("", shown) + ("" if WORD_ENDS.match(text, done) else " ")
            for candidate in map(self._candidates.__getitem__, known):
                n = self._numbers.get(candidate.passage_id)
                if n is None:
                    yield from _delta(shown)
                    shown = ""
                    n = self._numbers[candidate.passage_id] = len(self._numbers) + 1
                    source = as_source(candidate, n=n)
                    self.sources.append(source)
                    yield Cited(source, candidate.passage_id, candidate.document_id)
                shown += f" [{n}]"
        yield from _delta(shown + text[done:])


def _last_space(text: str, before: int) -> int:
    """The place of the last white space before that place; 0 where there is none."""
    return max(0, *(text.rfind(space, 0, before) for space in " \n\t"))


def _delta(text: str) -> Iterator[Delta]:
    if shown := URL.sub("", text):
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
