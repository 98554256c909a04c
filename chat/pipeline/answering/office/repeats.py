"""Finds what pages say that only repeats the answer in staff's own words above it."""

from collections.abc import Callable, Sequence

from chat.pipeline.answering.composition import Piece
from chat.pipeline.answering.proof import Prover
from chat.pipeline.question import Context
from chat.pipeline.retrieval.candidates import Candidate
from chat.pipeline.verification.classifier import Strictness
from core.language import detect_language


def find_repeats(context: Context) -> Callable[[str], bool] | None:
    """Return what tells of a sentence whether the office's answer says all of it; None without such an answer.

    The check is the one that proves a model's sentences: one that the answer proves is a repetition.
    """
    office = context.office
    if office is None:
        return None
    answer = Candidate(1, 0, office.document_id, office.title, office.url, "", office.text, language=office.language)
    prover = Prover([answer], language=office.language, strictness=Strictness.STRICT)

    def repeats(sentence: str) -> bool:
        if detect_language(sentence) not in {None, office.language}:
            return False
        verdict, _candidate = prover.prove(sentence, [answer.number])
        return verdict.is_supported and not verdict.is_connective

    return repeats


def without_repeated(context: Context, pieces: Sequence[Piece]) -> list[Piece]:
    """Leave out the quotes that the office's answer says already; tables stay."""
    repeats = find_repeats(context) if pieces else None
    return [piece for piece in pieces if repeats is None or piece.table or not repeats(piece.text)]
