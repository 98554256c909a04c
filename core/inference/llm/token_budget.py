"""The size of a prompt: token counts without the model's own tokenizer, and what to leave out. Knows no Django."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

#: Letters in a row, white space in a row, or one other character.
RUN = re.compile(r"(?P<letters>[^\W\d_]+)|(?P<space>\s+)|(?P<other>.)", re.DOTALL)
#: Where Latin letters end; from here on a letter is counted by its bytes.
LATIN_END = "\u0250"


def estimate_tokens(text: str) -> int:
    """Estimate how many tokens a model's tokenizer makes of a text, rather too many than too few.

    No byte-level tokenizer makes more tokens than there are bytes, so that bound is taken for digits, signs and all
    scripts but the Latin. Latin words are counted as half their bytes, an upper-case letter as one more half: that
    is a bound for prose (all-MiniLM's English word pieces make 0.65 of it of German, 0.5 of English), though none for
    letters thrown at random. A single space belongs to the word after it.
    """
    return sum(map(_tokens_in, RUN.finditer(text)))


def _tokens_in(run: re.Match[str]) -> int:
    found = run.group()
    if run.lastgroup == "space":
        return 0 if found == " " else 1 + found.count("\n")
    size = len(found.encode(errors="surrogatepass"))
    if run.lastgroup == "letters" and max(found) < LATIN_END:
        return -(-(size + sum(map(str.isupper, found))) // 2)
    return size


@dataclass(frozen=True, slots=True)
class Fit:
    """The part that fits: the first `passages`, and the newest `history` turns.

    `first_passage_tokens` is the length that a single passage must be trimmed to, else None.
    """

    passages: int
    history: int
    first_passage_tokens: int | None


def fit(*, fixed: int, passages: Sequence[int], history: Sequence[int], room: int) -> Fit:
    """Fit a prompt into `room` tokens.

    `fixed` is the fixed text with the question; passages come best first, history oldest first. The weakest passages
    are dropped first, down to one, then the oldest turns, then the end of that passage. Raises ValueError("question")
    if the fixed text alone is too long, since the question is never cut.
    """
    left = room - fixed
    if left < 0:
        raise ValueError("question")
    kept, turns = len(passages), len(history)
    while kept > 1 and sum(passages[:kept]) + sum(history) > left:
        kept -= 1
    needed = sum(passages[:kept])
    while turns and needed + sum(history[len(history) - turns :]) > left:
        turns -= 1
    return Fit(kept, turns, left if needed > left else None)
