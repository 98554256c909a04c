"""Signs that a text means to steer the model: direct in a question, indirect in a retrieved passage; pure.

A flagged question is answered like any other, because questions are data whatever they say
(`chat.pipeline.answering.prompt`) and what the model makes of them is checked (`chat.pipeline.guardrails.output`). A
flagged passage is withheld from answers until staff cleared it (`knowledge.indexing.flags`). The kinds of attacks
follow Perez and Ribeiro 2022 (goal hijacking, prompt leaking) and Greshake et al. 2023 (indirect injection).
"""

import re
from collections.abc import Iterable
from functools import cache

from core.hashing import fingerprint
from knowledge.guardrails import page_rules
from knowledge.guardrails.deobfuscation import TAGS, decoded, deobfuscate, fold, rot13
from knowledge.guardrails.rules import OVERRIDE, QUESTION_RULES, REVEAL_PROMPT, Rules

#: Five words in capitals: a list of tests and degrees is shorter, or has commas.
SHOUT = re.compile(r"(?<!\w)(?:[^\W\d_a-zäöüß]{2,30}[ ]){4}[^\W\d_a-zäöüß]{2,30}(?!\w)")
SMALL_WORD = re.compile(r"(?<!\w)[a-zäöüß]{2,30}(?!\w)")
#: Passages that were checked with other rules are checked again.
DOCUMENT_RECIPE = fingerprint(page_rules.VERSION, *page_rules.DOCUMENT_RULES.values())
#: Signs that random text matches less often than the others.
CERTAIN: Rules = {"override": OVERRIDE, "reveal_prompt": REVEAL_PROMPT}


def load_question_rules() -> None:
    """Compile what a first question would otherwise wait for."""
    for rule in QUESTION_RULES.values():
        _compiled(rule)


def flag_injection(text: str) -> tuple[str, ...]:
    """Return the names of the signs of injection in a student's question, in a fixed order."""
    return _flag(text, QUESTION_RULES, CERTAIN) or (("inserted",) if _shouts(text) else ())


def flag_document(text: str) -> tuple[str, ...]:
    """Return the names of the signs that a passage addresses the model instead of its readers."""
    return _flag(text, page_rules.DOCUMENT_RULES, page_rules.CERTAIN)


def _shouts(text: str) -> bool:
    """Detect an order in capitals inside a text that is not all capitals."""
    return bool(SHOUT.search(text)) and len(SMALL_WORD.findall(text)) > 2


def _flag(text: str, rules: Rules, certain: Rules) -> tuple[str, ...]:
    folded = fold(text)
    found = set(_signs([folded, *deobfuscate(folded)], rules))
    if TAGS.search(text):
        found.add("hidden")
    payloads = [fold(payload) for payload in decoded(text)]
    if hidden := {*_signs(payloads, rules), *_signs(rot13(folded), certain)} - found:
        found |= hidden | {"encoded"}
    return tuple(name for name in dict.fromkeys((*rules, "encoded", "hidden")) if name in found) if found else ()


def _signs(readings: Iterable[str], rules: Rules) -> list[str]:
    return [name for name, rule in rules.items() if any(_compiled(rule).search(reading) for reading in readings)]


@cache
def _compiled(rule: str) -> re.Pattern[str]:
    return re.compile(rule)
