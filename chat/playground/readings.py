"""Tells in plain language how the words of a question were read; pure."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _

from knowledge.words.readings import Step


def explain_readings(readings: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return a sentence for each of a message's `readings` (`chat.pipeline.retrieval.trace`)."""
    return [_explain(each["step"], each["word"], each["read_as"]) for each in readings]


def _explain(step: str, word: str, read_as: Sequence[str]) -> str:
    values = {"word": word, "others": _list(step, read_as)}
    if step == Step.SPELLING:
        return _("“%(word)s” was read as %(others)s.") % values
    if step == Step.COMPOUNDS:
        return _("“%(word)s” was also looked up as the German compound or its parts: %(others)s.") % values
    if step == Step.ABBREVIATIONS:
        return _("“%(word)s” was also looked up as its short or long form: %(others)s.") % values
    if step == Step.NUMBERS:
        return _("“%(word)s” was also looked up as the same number: %(others)s.") % values
    return _("“%(word)s” was also looked up as words for the same thing: %(others)s.") % values


def _list(step: str, forms: Sequence[str]) -> str:
    if step == Step.COMPOUNDS:
        forms = [" + ".join(part.capitalize() for part in form.split()) for form in forms]
    return ", ".join(_("“%(word)s”") % {"word": form} for form in forms)
