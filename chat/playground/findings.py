"""What a diagnosis consists of; pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from django.utils.formats import number_format
from django.utils.translation import gettext as _

#: Words named in one sentence.
MOST_WORDS = 12
SCORE_DECIMALS = 3


class Verdict(StrEnum):
    """What a finding means for the document: it stops there, it passes, or it is only good to know."""

    BLOCKS = "blocks"
    PASSES = "passes"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Finding:
    """`advice` is what staff can do about it; empty: nothing is wrong, or nothing can be done."""

    code: str
    verdict: Verdict
    text: str
    advice: str = ""


def blocks(code: str, text: str, advice: str = "") -> Finding:
    return Finding(code, Verdict.BLOCKS, text, advice)


def passes(code: str, text: str) -> Finding:
    return Finding(code, Verdict.PASSES, text)


def note(code: str, text: str, advice: str = "") -> Finding:
    return Finding(code, Verdict.NOTE, text, advice)


def listed(words: Sequence[str]) -> str:
    shown = ", ".join(_("“%(word)s”") % {"word": word} for word in words[:MOST_WORDS])
    return f"{shown}, …" if len(words) > MOST_WORDS else shown


def score_text(value: float | None) -> str:
    return "–" if value is None else number_format(value, decimal_pos=SCORE_DECIMALS)
