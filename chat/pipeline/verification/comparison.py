"""A sentence compared with the unit that it is aligned with, fact by fact; pure."""

import re
from collections.abc import Sequence

from chat.pipeline.guardrails.addresses import phones
from chat.pipeline.guardrails.disguises import unknown_leads
from chat.pipeline.verification.alignment import Alignment, Candidate, has_word
from chat.pipeline.verification.differences.figures import compare_figures
from chat.pipeline.verification.differences.moments import compare_moments
from chat.pipeline.verification.differences.statements import (
    compare_bounds,
    compare_conditions,
    compare_modality,
    compare_polarity,
    compare_quantities,
)
from chat.pipeline.verification.differences.subjects import compare_subjects
from chat.pipeline.verification.differences.types import Differences
from chat.pipeline.verification.facts import Facts, read_facts

#: From this share of known words on, an unknown one stands in the place of another.
CLOSE = 0.6
GERMAN = re.compile(
    r"\b(?:der|die|das|ist|sind|wird|werden|und|nicht|ein|eine|einen|für|bei|mit|von|im|zum|zur"
    r"|den|dem|man|sie|muss|kann)\b",
    re.I,
)


def compare(
    sentence: Facts, alignment: Alignment, passage: Facts, candidates: Sequence[Candidate], *, similarity: float | None
) -> Differences:
    """Return every difference between a sentence and its aligned unit, or two units."""
    found = Differences()
    best, second = alignment.best, alignment.second
    unit = read_facts(f"{best.text} {second.text}") if second else best.own
    whole = read_facts(f"{best.unit.context} {best.text} {second.unit.context} {second.text}") if second else best.whole
    _compare_words(found, sentence, unit, whole, passage, best)
    compare_figures(found, sentence, unit, whole, passage)
    compare_moments(found, sentence, whole)
    compare_polarity(found, sentence, unit, whole)
    compare_modality(found, sentence, unit)
    compare_quantities(found, sentence, unit, whole)
    compare_bounds(found, sentence, unit)
    compare_conditions(found, sentence, unit, whole)
    compare_subjects(found, sentence, unit, whole, passage, alignment, candidates)
    _compare_addresses(found, sentence, whole)
    found.add("two_units", second is not None)
    found.add("margin", min(alignment.rival, 1.0))
    found.add("has_vector", similarity is not None)
    found.add("similarity", similarity if similarity is not None else 0.0)
    found.add("length", min(len(sentence.content), 30) / 10)
    found.add("unit_length", min(len(unit.content), 60) / 10)
    found.add("is_cell", bool(best.unit.cells))
    return found


def _compare_words(
    found: Differences, sentence: Facts, unit: Facts, whole: Facts, passage: Facts, best: Candidate
) -> None:
    content = sentence.content
    missing = [word for word in content if not has_word(word, whole.keys)]
    elsewhere = [word for word in missing if has_word(word, passage.keys)]
    nowhere = [word for word in missing if word not in elsewhere]
    total = max(len(content), 1)
    found.add("coverage", 1 - len(missing) / total if content else 1.0)
    found.add("own_coverage", sum(has_word(word, unit.keys) for word in content) / total if content else 1.0)
    found.add("elsewhere", len(elsewhere) / total)
    found.add("nowhere", len(nowhere) / total)
    found.add("nowhere_count", min(len(nowhere), 6))
    found.add("elsewhere_count", min(len(elsewhere), 6))
    reverse = [word for word in unit.content if not has_word(word, sentence.keys)]
    found.add("left_out", len(reverse) / max(len(unit.content), 1))
    found.add("left_out_count", min(len(reverse), 20) / 5)
    names = [word for word in nowhere if _is_name(word.text, word.start)]
    found.add("unknown_names", min(len(names), 3))
    swapped = [word for word in elsewhere if _is_name(word.text, word.start)]
    found.add("swapped_names", min(len(swapped), 3))
    if names:
        found.doubt("name", names[0].text)
    if swapped:
        found.doubt("name", swapped[0].text)
    close = found.features["coverage"]
    missing_names = [word for word in missing if _is_name(word.text, word.start)]
    is_close = close >= CLOSE and len(content) > 1
    german = bool(GERMAN.search(sentence.text))
    found.add("close_swap", is_close and bool(missing_names) and not german)
    found.add("close_swap_german", is_close and bool(missing_names) and german)
    found.add("close_miss", is_close and bool(missing) and not missing_names)
    found.add("close_code", any(any(c.isupper() or c.isdigit() for c in word.text[1:]) for word in missing))
    if len(nowhere) / total > 0.5:
        found.doubt("invented", ", ".join(word.text for word in nowhere[:4]))


def _is_name(text: str, start: int) -> bool:
    inner = any(letter.isupper() for letter in text[1:]) or any(letter.isdigit() for letter in text)
    return inner or (start > 0 and text[:1].isupper())


def _compare_addresses(found: Differences, sentence: Facts, unit: Facts) -> None:
    """Compare with the cited sentence alone: another one of the passage may be planted."""
    unknown = unknown_leads(sentence.text, unit.text)
    digits = re.sub(r"\D", "", unit.text)
    unknown += [phone for phone in phones(sentence.text) if re.sub(r"\D", "", phone) not in digits]
    found.add("unknown_addresses", min(len(unknown), 2))
    if unknown:
        found.doubt("address", unknown[0])
