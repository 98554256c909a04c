"""Makes safe what the model streams: `[n]` resolved to sources as first used, web addresses dropped; pure.

A model writes numbers of candidates; students see numbers in the order of first use. A number without a candidate
goes, so an answer can only point at what was retrieved.
"""

import re
from collections.abc import Iterator, Mapping

from chat.pipeline.retrieval.candidates import Candidate, as_source
from chat.pipeline.sentences.quotable import quotable
from chat.prompt_template import DECLINE
from chat.protocol.answer_events import Cited, Delta
from chat.protocol.shapes import Source
from core.terms import content_words

#: `[1]`, `[1, 2]` with the blanks before it, also as a link; or any other link. Blanks are tried from their first one
#: alone, or a long row of them would take time in proportion to its square.
TOKEN = re.compile(
    r"(?:(?<![ \t])[ \t]++)?\[(?P<numbers>\d{1,3}(?:[ \t]*[,;][ \t]*\d{1,3})*)\](?:\([^)\[\n]{0,1000}\))?"
    r"|!?\[(?P<label>[^\[\]\n]{0,300})\]\([^)\[\n]{0,1000}\)"
)
#: What may yet become a token.
BEGUN = re.compile(r"!?\[[^\[\]\n]{0,300}(?:\](?:\([^)\[\n]{0,1000})?)?$")
URL = re.compile(r"(?:https?://|www\.)[^\s<>()\[\]]+", re.IGNORECASE)
#: A sentence with the markers that follow it.
CLAIM = re.compile(r"[^\n.!?]*(?:[.!?](?!\s|$)[^\n.!?]*)*(?:[.!?]+|\n|$)(?:[ \t]*\[\d{1,3}\])*")
MARKER = re.compile(r"(?:(?<![ \t])[ \t]++)?\[(\d{1,3})\]")
#: After this nothing more of a word can follow.
WORD_ENDS = re.compile(r"[.,;:!?)]*(?:\s|$)")
#: What may stand before a verdict: blanks, quotes, brackets, numbers of sources.
BEFORE_VERDICT = re.compile(r"^[\s\"'`*\[\]<(:.\d]+")
#: Past this a word is shown before it ends.
HELD_BACK = 1600


class CitationProcessor:
    """Takes text in pieces of any size, gives events whose deltas join to the same text however it was cut.

    `text` is what was shown so far; `question` tells whether links are asked for. Sources are numbered from `first` on.
    `documents` are the ids of the documents cited so far.
    """

    def __init__(self, candidates: Mapping[int, Candidate], *, question: str = "", first: int = 1) -> None:
        self._candidates = candidates
        self._first = first
        self._question = question
        self.text = ""
        self._pending = ""
        self._numbers: dict[int, int] = {}
        self.sources: list[Source] = []
        self.documents: set[int] = set()

    def cite(self, candidate: Candidate, *, quoted: str = "") -> Iterator[Cited | Delta]:
        """Name a source after the text, as if the model had; `quoted` are the words that are meant."""
        yield from self._resolve(f" [{candidate.number}]", quoted=quoted)

    def show(self, text: str) -> Iterator[Delta]:
        """Show a page's own words as they are."""
        self.text += text
        yield Delta(text)

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
        """Return the length of what is complete.

        It ends at the last white space that is in no token, and in none that may yet become one.
        """
        text = self._pending
        begun = BEGUN.search(text)
        end = _last_space(text, begun.start() if begun else len(text))
        for token in reversed([*TOKEN.finditer(text)]):
            if token.start() < end < token.end():
                end = _last_space(text, token.start())
        return len(text[:end].rstrip(" \t"))  # the blanks before a marker go with it

    def _resolve(self, text: str, *, quoted: str = "") -> Iterator[Cited | Delta]:
        done = 0
        shown = looked_through = ""
        for token in TOKEN.finditer(text):
            shown += text[done : token.start()]
            done = token.end()
            if token["numbers"] is None:
                shown += token["label"]
                continue
            known = [number for number in map(int, re.findall(r"\d+", token["numbers"])) if number in self._candidates]
            if not known:  # what it stood between must not make an address
                looked_through += URL.sub("", shown) + ("" if WORD_ENDS.match(text, done) else " ")
                shown = ""
            for candidate in map(self._candidates.__getitem__, known):
                n = self._numbers.get(candidate.passage_id)
                if n is None:
                    yield from self._delta(looked_through + shown)
                    shown = looked_through = ""
                    n = self._numbers[candidate.passage_id] = len(self._numbers) + self._first
                    meant = quoted or closest_sentence(last_sentence(self.text), candidate)
                    source = as_source(candidate, n=n, quoted=meant, question=self._question)
                    self.sources.append(source)
                    self.documents.add(candidate.document_id)
                    yield Cited(source, candidate.passage_id, candidate.document_id)
                shown += f" [{n}]"
        yield from self._delta(looked_through + shown + text[done:])

    def _delta(self, text: str) -> Iterator[Delta]:
        if shown := URL.sub("", text):
            self.text += shown
            yield Delta(shown)


def split_markers(text: str) -> tuple[str, list[int]]:
    """Return a text as it will read without its markers and addresses, and the numbers that it cites."""
    numbers = [int(number) for token in TOKEN.finditer(text) for number in re.findall(r"\d+", token["numbers"] or "")]
    return URL.sub("", TOKEN.sub(lambda token: token["label"] or "", text)), numbers


def last_sentence(text: str) -> str:
    """Return the sentence that a marker at the end of the text stands for."""
    sentences = [sentence for sentence in CLAIM.findall(text.rstrip()) if MARKER.sub("", sentence).strip(" .\n")]
    return MARKER.sub("", sentences[-1]).strip() if sentences else ""


def closest_sentence(claim: str, candidate: Candidate) -> str:
    """Return the passage's sentence that holds most of the claim's terms, as plain text; empty if none holds any."""
    said = content_words(claim)
    sentences = [quote.text for quote in quotable(candidate.text) if quote.text]
    best = max(sentences, key=lambda text: (len(said & content_words(text)), -len(text)), default="")
    return best if said & content_words(best) else ""


def _last_space(text: str, before: int) -> int:
    """Return the place of the last white space before that place; 0 if there is none."""
    return max(0, *(text.rfind(space, 0, before) for space in " \n\t"))


class RefusalDetector:
    """Reads the verdict that begins a model's reply: `declined` is None until it can be told.

    Tolerant of quotes, brackets, source numbers and full stops around the word; anything else is the beginning of an
    answer. Small models also decline after they began: the word is a refusal wherever it stands.
    """

    def __init__(self) -> None:
        self._seen = ""
        self.declined: bool | None = None

    def feed(self, text: str) -> str:
        """Return the part of the reply that is answer."""
        self._seen += text
        if DECLINE in self._seen[-len(text) - len(DECLINE) :]:
            self.declined = True
        if self.declined is not None:
            return "" if self.declined else text
        head = BEFORE_VERDICT.sub("", self._seen)
        if head.upper().startswith(DECLINE):
            self.declined = True
            return ""
        if head and not DECLINE.startswith(head.upper()):
            self.declined = False
            return self._seen.lstrip()
        return ""

    def finish(self) -> str:
        """Return what was held back, if the reply ended within the verdict; an empty reply is a refusal."""
        if self.declined is None:
            self.declined = not self._seen.strip()
            return self._seen.strip()
        return ""
