"""The sentences of a passage, and what an embedder reads of passages, sentences and propositions; pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from knowledge.passages.sentences import sentence_spans

#: What marks a line but is not said: quotes, bullets, numbers of items, boxes to tick.
MARKERS = re.compile(r"(?:>\s*|[-*+•]\s+|\d{1,9}[.)]\s+|\[[ xX]\]\s+)+")
HEADING = re.compile(r"#{1,6}\s")
TABLE_RULE = re.compile(r"\|?[\s|:-]*-[\s|:-]*")
#: Bounded, so that brackets that nothing closes take time in proportion to their number.
LINK = re.compile(r"!?\[([^\]]{0,500})\]\([^)]{0,2000}\)")
SIGNS = re.compile(r"\*+|`+|\||<[^>]{0,200}>")
WORD = re.compile(r"[^\W\d_]{2}")


@dataclass(frozen=True, slots=True)
class Sentence:
    """`text` is the passage's own, from `begin` up to `end`."""

    begin: int
    end: int
    text: str


def sentences(text: str, heading_path: Sequence[str] = ()) -> list[Sentence]:
    """The sentences, list items and table rows of a passage that say something, in order.

    Left out are headings, a table's header and rule, and what has no words, such as a marker alone.
    """
    spans = sentence_spans(text)
    found = []
    for index, (start, end) in enumerate(spans):
        marker = MARKERS.match(text, start, end)
        begin = marker.end() if marker else start
        said = text[begin:end]
        heads_table = index + 1 < len(spans) and _is_rule(text[slice(*spans[index + 1])])
        if HEADING.match(said) or _is_rule(said) or heads_table or said in heading_path[-1:]:
            continue
        if WORD.search(spoken(said)):
            found.append(Sentence(begin, end, said))
    return found


def in_context(title: str, heading_path: Sequence[str], text: str) -> str:
    """What the embedder reads of a passage or a unit of it: it needs to know where the text stands."""
    return "\n".join((title, " › ".join(heading_path), text))


def spoken(markdown: str) -> str:
    """A sentence without emphasis, cell borders and the addresses of links, which mean nothing to an embedder."""
    return " ".join(SIGNS.sub(" ", LINK.sub(r"\1", markdown)).split())


def _is_rule(line: str) -> bool:
    return "|" in line and TABLE_RULE.fullmatch(line) is not None
