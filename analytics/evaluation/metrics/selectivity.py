"""Selectivity: are answerable questions answered, and others refused; pure."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

#: Thresholds of the curve.
STEPS = 50
#: Phrases by which replies decline.
DECLINING = re.compile(
    r"\b(?:i (?:do not|don['’]t|did not|didn['’]t) (?:know|have|find|see)\b.{0,60}\b(?:answer|information|details|data)"
    r"|i (?:do not|don['’]t) know\b"
    r"|i (?:cannot|can['’]t|can not|could not|couldn['’]t|am unable to|am not able to|was unable to|was not able to)"
    r" (?:answer|find|say|tell|help|provide|confirm|determine)"
    r"|(?:is|are) not (?:mentioned|stated|specified|covered|provided) in the"
    r"|(?:sources|documents|pages|context|text) (?:do|does) not (?:say|mention|contain|answer|state|specify|provide)"
    r"|there is no information"
    r"|(?:das )?(?:weiß|weiss) ich (?:leider )?nicht"
    r"|ich (?:weiß|weiss) (?:es |das |die antwort )?(?:leider )?nicht"
    r"|ich (?:kann|konnte) .{0,80}\bnicht (?:beantworten|finden|sagen|bestätigen)"
    r"|ich (?:kann|konnte|habe) .{0,60}\bkeine (?:antwort|information|informationen|angaben|angabe)\b"
    r"|(?:quellen|dokumente|seiten|texte) (?:enthalten|nennen|sagen|geben) .{0,60}\b(?:keine|nicht|nichts)\b"
    r"|(?:dazu|darüber|hierzu) (?:gibt es|habe ich|finde ich|liegen mir) (?:leider )?keine)",
    re.IGNORECASE,
)
#: Only the begin of a reply is searched: an answer may end with what it leaves open.
OPENING_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class Decision:
    """A question's class, and the decision on it; the evidence is None if nothing was retrieved."""

    answerable: bool
    answered: bool
    evidence: float | None


def declines(text: str) -> bool:
    """Return whether the words of a reply say, in English or German, that it does not answer."""
    return bool(DECLINING.search(text[:OPENING_CHARACTERS]))


def selectivity(decisions: Sequence[Decision]) -> dict[str, float | None]:
    """Return the shares answered of what is answerable, and refused of what is not, and both classes' F1 (Marcel).

    Shares of an empty class are None, and so is what needs both.
    """
    answered = [each.answered for each in decisions if each.answerable]
    refused = [not each.answered for each in decisions if not each.answerable]
    both = bool(answered) and bool(refused)
    right, wrong = sum(answered), len(refused) - sum(refused)
    return {
        "answered_of_answerable": _share(answered),
        "refused_of_unanswerable": _share(refused),
        "accuracy": (right + sum(refused)) / len(decisions) if both else None,
        "f1_answered": _f1(right, wrong, len(answered)) if both else None,
        "f1_refused": _f1(sum(refused), len(answered) - right, len(refused)) if both else None,
    }


def curve(decisions: Sequence[Decision]) -> list[dict[str, float | None]]:
    """Return the share of each class with enough evidence to be answered, by the threshold from 0 to 1 by .02.

    What a model declines after that is not in it.
    """
    found = []
    for step in range(STEPS + 1):
        threshold = step / STEPS
        shares = {
            name: _share(
                [
                    each.evidence >= threshold
                    for each in decisions
                    if each.answerable is answerable and each.evidence is not None
                ]
            )
            for name, answerable in (("answerable", True), ("unanswerable", False))
        }
        found.append({"threshold": threshold, **shares})
    return found if decisions else []


def _share(values: Iterable[bool]) -> float | None:
    kept = list(values)
    return sum(kept) / len(kept) if kept else None


def _f1(right: int, wrong: int, in_class: int) -> float:
    """Return the F1 of a class: `right` and `wrong` were both taken for the class, `in_class` are of it."""
    return 2 * right / (right + wrong + in_class) if right else 0.0
