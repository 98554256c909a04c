"""A model's stream cut into whole sentences, list items and table rows, each with the markers that follow it; pure."""

import re
from dataclasses import dataclass

from knowledge.chunking.sentences import sentence_spans

#: A sentence may end before these: after a full stop, a question mark, an ellipsis, or at a line's end.
MAY_END = re.compile(r"[.!?…][)\]}\"'‘’“”»«*_`]*(?:\s*\[[\d,; \t]{1,20}\])*[.]?\s|\n")
#: Markers at the beginning of what follows a sentence belong to that sentence.
MARKERS = re.compile(r"[ \t]*(?:\[\d{1,3}(?:[ \t]*[,;][ \t]*\d{1,3})*\][ \t]*)+[.,;]?(?=\s|$)")
#: What follows a sentence is known to begin another one once its first word is whole.
FIRST_WORD = re.compile(r"\s*\S+\s")
#: The end of a sentence that can no longer go on: "318." may be half a figure.
WHOLE = re.compile(r"(?:[^\W\d_][)\"'”“]*[.!?…]+[)\"'”“*_]*|\][.!?]?)$")
LIST_MARK = re.compile(r"[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+")
#: More characters without an end are cut at a blank; no sentence that long is ever proven.
LONGEST = 1_600


@dataclass(frozen=True, slots=True)
class HeldSentence:
    """`text` is as the model wrote it, with its list mark and markers; `separator` is the white space before it."""

    text: str
    separator: str = ""

    @property
    def list_mark(self) -> str:
        found = LIST_MARK.match(self.text)
        return found[0] if found else ""

    @property
    def is_row(self) -> bool:
        return self.text.startswith("|")


class SentenceStream:
    """Takes text in pieces of any size and gives the sentences that are complete, in order."""

    def __init__(self) -> None:
        self._pending = ""

    def feed(self, piece: str) -> list[HeldSentence]:
        """Add what was written; return the sentences that it completed."""
        self._pending += piece
        if len(self._pending) > LONGEST:
            return self._cut_long()
        # Only a white space can complete a sentence: without one there is nothing new to look at.
        if not re.search(r"\s", piece) or not MAY_END.search(self._pending):
            return []
        spans = _with_markers(self._pending)
        done = [
            (start, end)
            for start, end in spans
            if FIRST_WORD.match(self._pending, end) or self._pending[end : end + 1] == "\n"
        ]
        return self._take(done)

    def finish(self) -> list[HeldSentence]:
        """Return what is left when the model has ended."""
        return self._take(_with_markers(self._pending))

    def interrupt(self) -> list[HeldSentence]:
        """Return what is whole when the model broke off."""
        spans = _with_markers(self._pending)
        if spans and not WHOLE.search(self._pending[slice(*spans[-1])]):
            spans.pop()
        return self._take(spans)

    def _take(self, spans: list[tuple[int, int]]) -> list[HeldSentence]:
        found, before = [], 0
        for start, end in spans:
            found.append(HeldSentence(self._pending[start:end], _separator(self._pending[before:start])))
            before = end
        self._pending = self._pending[before:]
        return found

    def _cut_long(self) -> list[HeldSentence]:
        cut = self._pending.rfind(" ")
        text, self._pending = self._pending[: cut if cut > 0 else None], self._pending[cut:] if cut > 0 else ""
        return [HeldSentence(text.strip(), _separator(text[: len(text) - len(text.lstrip())]))] if text.strip() else []


def _with_markers(text: str) -> list[tuple[int, int]]:
    """Return the spans of sentences; markers that open one belong to the one before."""
    spans: list[tuple[int, int]] = []
    for start, end in sentence_spans(text):
        while start < end and (markers := MARKERS.match(text, start, end)) and spans:
            spans[-1] = (spans[-1][0], markers.end())
            start = markers.end()
            start += len(text[start:end]) - len(text[start:end].lstrip())
        if start < end:
            spans.append((start, end))
    return [(start, start + len(text[start:end].rstrip())) for start, end in spans]


def _separator(gap: str) -> str:
    """Return the white space between two sentences: a paragraph break, a line break or a blank."""
    breaks = gap.count("\n")
    return "\n\n" if breaks > 1 else "\n" if breaks else " " if gap else ""
