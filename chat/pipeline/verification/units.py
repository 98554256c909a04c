"""Units of a passage: its sentences, list items and table rows, each with what it can only be understood with; pure."""

import re
from dataclasses import dataclass
from functools import lru_cache

from knowledge.chunking.plain_text import make_plain
from knowledge.chunking.sentences import sentence_spans

HEADING = re.compile(r"^\s*#{1,6}\s+(?P<text>.*?)\s*#*\s*$")
LIST_MARK = re.compile(r"^(?:[-*+•]|\d{1,3}[.)])\s+")
TABLE_RULE = re.compile(r"^\|?[\s:|-]+\|?$")
CELL_END = re.compile(r"(?<!\\)\|")
SPACED = re.compile(r"\s+(?=[.,;:!?%)])|(?<=[(])\s+")
ENDED = re.compile(r"[.!?…][\"”“»)]*$")
#: Beginnings that need the sentence before.
POINTS_BACK = re.compile(
    r"(?:This|These|Those|That|They|It|He|She|Its|Their|Such|Then|However|Otherwise|In this case|Exception|Both|There"
    r"|Er|Ihm|Dies|Das|Diese[mnrs]?|Deren|Dessen|Dafür|Damit|Dazu|Dabei|Davon|Dort|Dann|Danach|Ausnahme|Sonst)\b"
)
#: A passage longer than this is cut: no passage of the index is.
LONGEST = 20_000


@dataclass(frozen=True, slots=True)
class Unit:
    """`text` is what the page says, `context` what it stands under: title, heading, lead-in, column names.

    `cells` are a table row's columns with their cells; `label` is the row's first cell.
    """

    text: str
    shown: str
    context: str
    label: str = ""
    cells: tuple[tuple[str, str], ...] = ()

    @property
    def whole(self) -> str:
        return f"{self.context} {self.shown}"


@lru_cache(maxsize=256)
def split_units(passage: str, title: str = "", heading: str = "") -> tuple[Unit, ...]:
    """Return the units of a passage in order. A question is none: it is what the next sentence stands under."""
    units: list[Unit] = []
    head, lead, before, asked = heading, "", "", ""
    header: list[str] = []
    passage = passage[:LONGEST]
    for raw in _whole_sentences(passage):
        if match := HEADING.match(raw):
            head, lead, before, asked, header = as_sentence(match["text"]), "", "", "", []
            continue
        context = f"{title}. {head}." if head and head != title else f"{title}."
        if raw.startswith("|"):
            if TABLE_RULE.match(raw):
                continue
            cells = split_cells(raw)
            if not header:
                header = cells
                continue
            units.append(_row(header, cells, context))
            continue
        header = []
        is_item = bool(LIST_MARK.match(raw))
        text = as_sentence(LIST_MARK.sub("", raw))
        if not text:
            continue
        if is_question(text):
            before = asked = text
            continue
        context, asked = f"{context} {asked}".rstrip(), ""
        if is_item:
            shown = f"{lead} {text}" if lead and text[:1].islower() else text
            units.append(Unit(text, shown, f"{context} {lead}"))
            continue
        needed = before if POINTS_BACK.match(text) else ""
        units.append(Unit(text, f"{needed} {text}" if needed else text, context))
        lead, before = text if not ENDED.search(text) or text.endswith(":") else "", text
    return tuple(units)


def _whole_sentences(passage: str) -> list[str]:
    """Return the sentences as they stand there; one that a page break cut in two is joined again."""
    found: list[str] = []
    for start, end in sentence_spans(passage):
        raw = passage[start:end].strip()
        goes_on = (
            raw[:1].islower() and found and not ENDED.search(found[-1]) and not found[-1].endswith((":", ";", ","))
        )
        if goes_on and not found[-1].startswith(("|", "#")) and not LIST_MARK.match(found[-1]):
            found[-1] = f"{found[-1]} {raw}"
        else:
            found.append(raw)
    return found


def _row(header: list[str], cells: list[str], context: str) -> Unit:
    named = tuple(zip(header, cells, strict=False))
    shown = "; ".join(f"{name}: {cell}" if name else cell for name, cell in named if cell)
    return Unit(shown, shown, context, label=cells[0] if cells else "", cells=named)


def is_question(text: str) -> bool:
    """Return whether a sentence asks: it states nothing, and one that stands on a page may be meant for the model."""
    return text.rstrip(" *_\"'“”„»«)").endswith("?")


def split_cells(row: str) -> list[str]:
    return [as_sentence(cell) for cell in CELL_END.split(row.strip().strip("|"))]


def as_sentence(markdown: str) -> str:
    """Return Markdown as it reads, without blanks before punctuation."""
    return SPACED.sub("", make_plain(markdown))
