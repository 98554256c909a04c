"""Polarity, modality, quantity, bounds and conditions that a sentence has otherwise than its unit; pure."""

import re
from collections.abc import Sequence

from chat.pipeline.verification.alignment import has_word
from chat.pipeline.verification.differences.figures import DIRECTIONS
from chat.pipeline.verification.differences.types import Differences
from chat.pipeline.verification.facts import Facts, read_facts
from chat.pipeline.verification.signals import split_clauses
from chat.pipeline.verification.words import fold, read_words, stem

IMPERATIVE = re.compile(
    r"^(?:please |bitte )?(?:submit|upload|bring|pay|send|register|apply|ask|show|download"
    r"|contact|check|choose|select|write|return|save|find|give|enter|use|request|inform|accept"
    r"|conclude|stellen|reichen|zahlen|bringen|gehen|legen|melden|laden|fragen)\b"
    r"|\b(?:reichen|stellen|bringen|gehen|legen|melden|laden|zahlen) sie\b",
    re.I,
)
#: Beginnings that make a word its contrary.
LEAST_REST = 5
CONTRARY = ("un", "in", "im", "ir", "non-", "dis")


def compare_polarity(found: Differences, sentence: Facts, unit: Facts, whole: Facts) -> None:
    """Compare what is denied: negations, contraries, and the sign of every word that both have."""
    shared = [word for word in sentence.content if word.keys & unit.keys]
    conflicts = []
    for word in shared:
        keys = word.keys & unit.signs.keys()
        said = frozenset(sign for key in keys for sign in sentence.signs.get(key, ()))
        read = frozenset(sign for key in keys for sign in unit.signs.get(key, ()))
        if said and read and not said & read:
            conflicts.append(word)
    found.add("sign_conflicts", min(len(conflicts), 4))
    found.add("sign_conflict_share", len(conflicts) / max(len(shared), 1))
    poles = [name for name, signs in sentence.poles.items() if name in unit.poles and not signs & unit.poles[name]]
    prefixed = [*_contraries(sentence, unit), *_contraries(unit, sentence)]
    if prefixed and (sentence.negations > 0) == (unit.negations > 0):
        poles += prefixed
    found.add("pole_conflicts", min(len(poles), 2))
    agreed = [name for name, signs in sentence.poles.items() if name in unit.poles and signs & unit.poles[name]]
    found.add("pole_agreements", min(len(agreed), 2))
    ours, theirs = sentence.negations, unit.negations
    found.add("negated_only_here", ours > 0 and theirs == 0)
    found.add("negated_only_there", ours == 0 and theirs > 0)
    agreed_denial = any(-1 in sentence.signs.get(key, ()) and -1 in unit.signs.get(key, ()) for key in sentence.signs)
    found.add("both_negated", ours > 0 and theirs > 0 and not conflicts and not poles)
    found.add("denial_agrees", agreed_denial and not poles)
    odd = (ours % 2) != (theirs % 2)
    close = found.features["own_coverage"]
    found.add("close_parity", odd * close * (1 - found.features["left_out"]))
    found.add("close_negated_here", close * (ours > 0 and theirs == 0))
    found.add("close_negated_there", close * (ours == 0 and theirs > 0) * (1 - found.features["left_out"]))
    found.add("close_sign_conflicts", close * min(len(conflicts), 2))
    clause = _closest_clause(sentence, unit)
    found.add("clause_parity", (ours % 2) != (read_facts(clause).negations % 2) if clause else 0)
    contrary = {name for name, signs in sentence.poles.items() if -1 in signs} - {
        n for n, s in unit.poles.items() if -1 in s
    }
    found.add("contrary_only_here", bool(contrary))
    there = {name for name, signs in unit.poles.items() if -1 in signs} - {
        n for n, s in sentence.poles.items() if -1 in s
    }
    found.add("contrary_only_there", bool(there))
    denied = "forbidden" in sentence.modality or "exempt" in sentence.modality or bool(ours)
    found.add("answer_contradicts", (sentence.answer == "yes" and denied) or (sentence.answer == "no" and not denied))
    found.add("answer_yes_unit_negated", sentence.answer == "yes" and theirs > 0)
    found.add("answer_no_unit_plain", sentence.answer == "no" and theirs == 0)
    if conflicts:
        found.doubt("polarity", conflicts[0].text)
    elif poles:
        found.doubt("polarity", poles[0])
    elif (ours > 0) != (theirs > 0):
        found.doubt("polarity", "")


def _contraries(one: Facts, other: Facts) -> list[str]:
    """Return the words of one text that are words of the other with a beginning such as "un-"."""
    found = []
    for word in one.content:
        plain = fold(word.text)
        for prefix in CONTRARY:
            rest = plain.removeprefix(prefix)
            if rest != plain and len(rest) >= LEAST_REST and stem(rest) in other.keys and stem(plain) not in other.keys:
                found.append(word.text)
    return found


def _closest_clause(sentence: Facts, unit: Facts) -> str:
    spans = split_clauses(unit.text).spans
    if len(spans) < 2:
        return unit.text
    best, most = unit.text, 0.0
    for start, end in spans:
        words = [word for word in read_words(unit.text[start:end]) if word.keys]
        if len(words) < 2:
            continue
        share = sum(has_word(word, sentence.keys) for word in words) / (len(words) + 1)
        if share > most:
            best, most = unit.text[start:end], share
    return best


def compare_modality(found: Differences, sentence: Facts, unit: Facts) -> None:
    """Compare what is obliged, permitted, advised, forbidden and exempt."""
    ours, theirs = sentence.modality, unit.modality
    if "permitted" in ours and "most" in sentence.bounds:  # "may be at most" is a bound
        ours = ours - {"permitted"}
    told = bool(IMPERATIVE.search(unit.text))
    if told and "advised" not in theirs:
        theirs = theirs | {"obliged"}
    said = bool(IMPERATIVE.search(sentence.text))
    if said and "advised" not in ours:  # "stellen Sie am besten" is advice
        ours = ours | {"obliged"}
    for name in ("forbidden", "exempt", "obliged", "advised", "permitted"):
        found.add(f"{name}_here", name in ours and name not in theirs)
        found.add(f"{name}_there", name in theirs and name not in ours)
    pairs = {
        "obliged_for_optional": "obliged" in ours - theirs and bool(theirs & {"permitted", "advised", "exempt"}),
        "obliged_for_nothing": "obliged" in ours and not theirs,
        "permitted_for_obliged": "permitted" in ours - theirs and bool(theirs & {"obliged", "advised"}),
        "permitted_for_forbidden": "permitted" in ours - theirs and "forbidden" in theirs - ours,
        "forbidden_for_permitted": "forbidden" in ours - theirs and "permitted" in theirs - ours,
        "advised_for_obliged": "advised" in ours - theirs,
        "obliged_for_advised": "advised" in theirs - ours and "obliged" in ours,
        "exempt_for_obliged": "exempt" in ours - theirs and "obliged" in theirs - ours,
        "obliged_for_exempt": "obliged" in ours - theirs and "exempt" in theirs - ours,
        "permitted_for_nothing": "permitted" in ours and not theirs,
        "nothing_for_advised": "advised" in theirs and not ours,
        "nothing_for_permitted": theirs == {"permitted"} and not ours,
    }
    for name, value in pairs.items():
        found.add(name, value)
    clear = ("obliged_for_optional", "permitted_for_obliged", "permitted_for_forbidden", "forbidden_for_permitted",
             "advised_for_obliged", "obliged_for_advised", "exempt_for_obliged", "obliged_for_exempt")  # fmt: skip
    found.add("modal_conflict", any(pairs[name] for name in clear))
    if any(pairs[name] for name in clear):
        found.doubt("modality", ", ".join(sorted(ours)))


def compare_quantities(found: Differences, sentence: Facts, unit: Facts, whole: Facts) -> None:
    """Compare all, most, some, only and none."""
    for name in ("only", "all", "most", "some", "none"):
        found.add(f"{name}_here", name in sentence.quantities and name not in whole.quantities)
        found.add(f"{name}_there", name in unit.quantities and name not in sentence.quantities)
    swap = {"all", "most", "some", "none"}
    clash = (
        bool(sentence.quantities & swap)
        and bool(unit.quantities & swap)
        and not sentence.quantities & unit.quantities & swap
    )
    found.add("quantity_conflict", clash)
    if clash or (
        ("all" in sentence.quantities or "only" in sentence.quantities) and not sentence.quantities & whole.quantities
    ):
        found.doubt("quantifier", ", ".join(sorted(sentence.quantities)))


def compare_bounds(found: Differences, sentence: Facts, unit: Facts) -> None:
    """Compare the directions of bounds, and what comes before and after what."""
    conflict = any(
        bound not in unit.bounds and DIRECTIONS[bound] in unit.bounds and DIRECTIONS[bound] not in sentence.bounds
        for bound in sentence.bounds
    )
    found.add("bound_direction", conflict)
    found.add("bound_here", bool(sentence.bounds - unit.bounds))
    order = {"before": "after", "after": "before"}
    swapped = any(r not in unit.relations and order[r] in unit.relations for r in sentence.relations)
    crossed = 0
    for name, keys in sentence.orders:
        same = max((len(keys & other) for relation, other in unit.orders if relation == name), default=0)
        contrary = max((len(keys & other) for relation, other in unit.orders if relation != name), default=0)
        crossed += contrary > same
    found.add("order_crossed", min(crossed, 2))
    if crossed:
        found.doubt("bound", "before, after")
    found.add("order_conflict", swapped)
    if conflict and sentence.negations > 0 and unit.negations == 0:  # "not after" is "before"
        conflict = False
        found.add("bound_direction", 0)
        found.add("negated_only_here", 0)
        found.add("negated_only_there", 0)
    if conflict:
        found.doubt("bound", "")
    elif swapped:
        found.doubt("bound", "before, after")


def compare_conditions(found: Differences, sentence: Facts, unit: Facts, whole: Facts) -> None:
    """Compare conditions and exceptions: dropped ones and added ones."""
    for name, ours, theirs in (
        ("condition", sentence.conditions, unit.conditions),
        ("exception", sentence.exceptions, unit.exceptions),
    ):
        dropped = _uncovered(theirs, sentence)
        added = _uncovered(ours, whole)
        found.add(f"{name}_there", bool(theirs))
        found.add(f"{name}_dropped", dropped)
        found.add(f"{name}_added", added)
        found.add(f"{name}_only_there", bool(theirs) and not ours)
        found.add(f"{name}_only_here", bool(ours) and not theirs)
        if (theirs and not ours and dropped > 0.5) or added > 0.5:
            found.doubt("condition", (theirs or ours)[0].strip())
    found.add(
        "any_condition_dropped",
        bool(unit.conditions or unit.exceptions) and not (sentence.conditions or sentence.exceptions),
    )
    found.add("unless_for_if", bool(sentence.exceptions) and not unit.exceptions and bool(unit.conditions))
    found.add("if_for_unless", bool(unit.exceptions) and not sentence.exceptions and bool(sentence.conditions))


def _uncovered(tails: Sequence[str], other: Facts) -> float:
    """Return the largest share of a condition's words that the other text lacks."""
    most = 0.0
    for tail in tails:
        words = [word for word in read_words(tail) if word.keys]
        if words:
            most = max(most, sum(not has_word(word, other.keys) for word in words) / len(words))
    return most
