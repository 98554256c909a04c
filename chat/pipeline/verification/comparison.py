"""What a sentence says otherwise than the unit that it is aligned with, as numbers that can be weighed; pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from chat.pipeline.guardrails.addresses import emails, links, phones
from chat.pipeline.verification.alignment import Alignment, Candidate, has_word, holds
from chat.pipeline.verification.facts import NON_EU, Facts, Figure, read_facts
from chat.pipeline.verification.numerals import ORDINALS
from chat.pipeline.verification.signals import split_clauses
from chat.pipeline.verification.words import alternatives, fold, read_words, stem, word_keys

ORDINAL = re.compile(
    r"\b(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth"
    r"|(?:erst|zweit|dritt|viert|fünft|sechst|siebt|acht|neunt|zehnt)e[nrsm]?)\b",
    re.I,
)
IMPERATIVE = re.compile(
    r"^(?:please |bitte )?(?:submit|upload|bring|pay|send|register|apply|ask|show|download|contact|check|choose|select|write|return|save|find|give|enter|use|request|inform|accept|conclude|stellen|reichen|zahlen|bringen|gehen|legen|melden|laden|fragen)\b"
    r"|\b(?:reichen|stellen|bringen|gehen|legen|melden|laden|zahlen) sie\b", re.I
)
#: From this share of known words on, an unknown one stands in the place of another.
CLOSE = 0.6
GERMAN = re.compile(r"\b(?:der|die|das|ist|sind|wird|werden|und|nicht|ein|eine|einen|für|bei|mit|von|im|zum|zur|den|dem|man|sie|muss|kann)\b", re.I)
#: How far from a figure a word may stand and still say what the figure is of, in characters.
NEAR = 60
#: Whatever has such a date ends on it.
DEADLINE = word_keys("deadline") & word_keys("frist")
#: Beginnings that make a word its contrary.
LEAST_REST = 5
CONTRARY = ("un", "in", "im", "ir", "non-", "dis")
DIRECTIONS = {"least": "most", "most": "least"}


@dataclass(slots=True)
class Comparison:
    """Features by name, and the kinds of doubt with the words that raise them."""

    features: dict[str, float] = field(default_factory=dict)
    doubts: dict[str, str] = field(default_factory=dict)

    def add(self, name: str, value: float) -> None:
        self.features[name] = float(value)

    def doubt(self, kind: str, text: str) -> None:
        self.doubts.setdefault(kind, text)


def compare(sentence: Facts, alignment: Alignment, passage: Facts, candidates: Sequence[Candidate], *, similarity: float | None) -> Comparison:
    """Return every difference between a sentence and its aligned unit, or two units."""
    found = Comparison()
    best, second = alignment.best, alignment.second
    unit = read_facts(f"{best.text} {second.text}") if second else best.own
    whole = read_facts(f"{best.unit.context} {best.text} {second.unit.context} {second.text}") if second else best.whole
    _compare_words(found, sentence, unit, whole, passage, best)
    _compare_figures(found, sentence, unit, whole, passage)
    _compare_polarity(found, sentence, unit, whole)
    _compare_modality(found, sentence, unit)
    _compare_quantities(found, sentence, unit, whole)
    _compare_bounds(found, sentence, unit)
    _compare_conditions(found, sentence, unit, whole)
    _compare_subjects(found, sentence, unit, whole, passage, alignment, candidates)
    _compare_addresses(found, sentence, passage)
    found.add("two_units", second is not None)
    found.add("margin", min(alignment.rival, 1.0))
    found.add("doubts", min(len(found.doubts), 4))
    found.add("has_vector", similarity is not None)
    found.add("similarity", similarity if similarity is not None else 0.0)
    found.add("length", min(len(sentence.content), 30) / 10)
    found.add("unit_length", min(len(unit.content), 60) / 10)
    found.add("is_cell", bool(best.unit.cells))
    return found


def _compare_words(found: Comparison, sentence: Facts, unit: Facts, whole: Facts, passage: Facts, best: Candidate) -> None:
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


def _compare_figures(found: Comparison, sentence: Facts, unit: Facts, whole: Facts, passage: Facts) -> None:
    missing = [figure for figure in sentence.figures if not holds(figure, whole.figure_keys)]
    nowhere = [figure for figure in missing if not holds(figure, passage.figure_keys)]
    found.add("figures", min(len(sentence.figures), 4))
    found.add("figures_missing", min(len(missing), 3))
    found.add("figures_nowhere", min(len(nowhere), 3))
    found.add("figure_in_context_only", any(holds(f, whole.figure_keys) and not holds(f, unit.figure_keys) for f in sentence.figures))
    if missing:
        found.doubt("date" if any(k.startswith("d:") for r in missing[0].readings for k in r) else "figure", missing[0].text)
    measures = bounds = loose = relation = approximate = added_bound = dropped_bound = 0
    for figure in sentence.figures:
        twins = [other for other in unit.figures if any(a & b for a in figure.readings for b in other.readings)]
        if not twins:
            continue
        if figure.measure and all(t.measure and t.measure != figure.measure and not _converts(figure, t) for t in twins):
            measures += 1
            found.doubt("figure", figure.text + " " + figure.measure)
        if figure.bound and all(t.bound == DIRECTIONS[figure.bound] for t in twins):
            bounds += 1
            found.doubt("bound", figure.text)
        elif figure.bound and all(not t.bound for t in twins):
            added_bound += 1
            if figure.bound == "least" and DEADLINE & whole.keys and _sort(figure) == "date":
                bounds += 1
                found.doubt("bound", figure.text)
        elif not figure.bound and all(t.bound for t in twins):
            dropped_bound += 1
        if figure.relation and all(t.relation and t.relation != figure.relation for t in twins):
            relation += 1
            found.doubt("bound", figure.text)
        if figure.is_approximate and not any(t.is_approximate for t in twins):
            approximate += 1
        loose += len(twins) == 0
    for name, value in (
        ("measures", measures), ("bound_conflicts", bounds), ("added_bounds", added_bound), ("dropped_bounds", dropped_bound),
        ("relation_conflicts", relation), ("approximate", approximate),
    ):
        found.add(name, min(value, 2))
    if sentence.figures:
        unsaid = [f for f in unit.figures if not any(a & b for s in sentence.figures for a in s.readings for b in f.readings)]
        found.add("figures_left_out", min(len(unsaid), 3))
    else:
        found.add("figures_left_out", 0)
    ours, theirs = set(map(_ordinal, ORDINAL.findall(sentence.text))), set(map(_ordinal, ORDINAL.findall(whole.text)))
    found.add("ordinal_conflict", bool(ours and theirs and not ours & theirs))
    found.add("ordinal_missing", bool(ours and not theirs))


def _ordinal(word: str) -> str:
    word = word.lower()
    return str(ORDINALS.get(word) or ORDINALS.get(re.sub(r"e[nrsm]?$", "", word)) or word)


def _converts(one: object, other: object) -> bool:
    pair = {one.measure, other.measure}  # type: ignore[attr-defined]
    if pair == {"day", "workday"}:
        return False
    return one.readings[0] != other.readings[0] or "" in pair  # type: ignore[attr-defined]


def _compare_polarity(found: Comparison, sentence: Facts, unit: Facts, whole: Facts) -> None:
    shared = [word for word in sentence.content if word.keys & unit.keys]
    conflicts = []
    for word in shared:
        keys = word.keys & unit.signs.keys()
        ours = frozenset(sign for key in keys for sign in sentence.signs.get(key, ()))
        theirs = frozenset(sign for key in keys for sign in unit.signs.get(key, ()))
        if ours and theirs and not ours & theirs:
            conflicts.append(word)
    found.add("sign_conflicts", min(len(conflicts), 4))
    found.add("sign_conflict_share", len(conflicts) / max(len(shared), 1))
    poles = [
        name for name, signs in sentence.poles.items() if name in unit.poles and not signs & unit.poles[name]
    ]
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
    contrary = {name for name, signs in sentence.poles.items() if -1 in signs} - {n for n, s in unit.poles.items() if -1 in s}
    found.add("contrary_only_here", bool(contrary))
    there = {name for name, signs in unit.poles.items() if -1 in signs} - {n for n, s in sentence.poles.items() if -1 in s}
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


def _compare_modality(found: Comparison, sentence: Facts, unit: Facts) -> None:
    ours, theirs = sentence.modality, unit.modality
    if "permitted" in ours and "most" in sentence.bounds:  # "may be at most" is a bound
        ours = ours - {"permitted"}
    told = bool(IMPERATIVE.search(unit.text))
    if told:
        theirs = theirs | {"obliged"}
    said = bool(IMPERATIVE.search(sentence.text))
    if said:
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


def _compare_quantities(found: Comparison, sentence: Facts, unit: Facts, whole: Facts) -> None:
    for name in ("only", "all", "most", "some", "none"):
        found.add(f"{name}_here", name in sentence.quantities and name not in whole.quantities)
        found.add(f"{name}_there", name in unit.quantities and name not in sentence.quantities)
    swap = {"all", "most", "some", "none"}
    clash = bool(sentence.quantities & swap) and bool(unit.quantities & swap) and not sentence.quantities & unit.quantities & swap
    found.add("quantity_conflict", clash)
    if clash or (("all" in sentence.quantities or "only" in sentence.quantities) and not sentence.quantities & whole.quantities):
        found.doubt("quantifier", ", ".join(sorted(sentence.quantities)))


def _compare_bounds(found: Comparison, sentence: Facts, unit: Facts) -> None:
    conflict = any(bound not in unit.bounds and DIRECTIONS[bound] in unit.bounds and DIRECTIONS[bound] not in sentence.bounds for bound in sentence.bounds)
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


def _compare_conditions(found: Comparison, sentence: Facts, unit: Facts, whole: Facts) -> None:
    for name, ours, theirs in (("condition", sentence.conditions, unit.conditions), ("exception", sentence.exceptions, unit.exceptions)):
        dropped = _uncovered(theirs, sentence)
        added = _uncovered(ours, whole)
        found.add(f"{name}_there", bool(theirs))
        found.add(f"{name}_dropped", dropped)
        found.add(f"{name}_added", added)
        found.add(f"{name}_only_there", bool(theirs) and not ours)
        found.add(f"{name}_only_here", bool(ours) and not theirs)
        if (theirs and not ours and dropped > 0.5) or added > 0.5:
            found.doubt("condition", (theirs or ours)[0].strip())
    found.add("any_condition_dropped", bool(unit.conditions or unit.exceptions) and not (sentence.conditions or sentence.exceptions))
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


def _compare_subjects(
    found: Comparison, sentence: Facts, unit: Facts, whole: Facts, passage: Facts, alignment: Alignment, candidates: Sequence[Candidate]
) -> None:
    clashes = soft = 0
    for group in alternatives():
        ours = {n for n, keys in enumerate(group) if _names(keys, sentence.keys)}
        theirs = {n for n, keys in enumerate(group) if _names(keys, whole.keys)}
        if ours and theirs and not ours <= theirs:
            clashes += 1
            found.doubt("subject", " ".join(sorted(k for n in ours - theirs for k in group[n] if not k.startswith("#"))))
        elif ours and not theirs and any(_names(keys, passage.keys) for keys in group):
            soft += 1
    found.add("alternative_conflicts", min(clashes, 2))
    found.add("alternative_missing", min(soft, 2))
    best = alignment.best
    # A word that another row, column or item has and this one lacks says that the sentence is about that one.
    missing = [word for word in sentence.content if not has_word(word, whole.keys)]
    rivals = 0.0
    labels = 0.0
    for word in missing:
        for other in candidates:
            if other.unit is best.unit and other.text == best.text:
                continue
            if has_word(word, other.own.keys):
                rivals += 1
                if other.unit.cells:
                    heads = frozenset(k for name, _ in other.unit.cells for w in read_words(name) for k in w.keys)
                    label = frozenset(k for w in read_words(other.unit.label) for k in w.keys)
                    if word.keys & (heads | label):
                        labels += 1
                break
    found.add("cell_conflict", _cell_conflict(sentence, best))
    if found.features["cell_conflict"]:
        found.doubt("subject", best.unit.label)
    nearer = _nearer_figure(sentence, unit)
    found.add("nearer_figure", nearer)
    if nearer:
        found.doubt("subject", sentence.figures[0].text)
    found.add("rival_words", min(rivals, 4))
    found.add("rival_labels", min(labels, 3))
    if labels:
        found.doubt("subject", missing[0].text)
    if best.unit.cells:
        label_words = [word for word in read_words(best.unit.label) if word.keys]
        named = sum(has_word(word, sentence.keys) for word in label_words) / max(len(label_words), 1)
        found.add("label_unsaid", 1 - named if label_words else 0)
    else:
        found.add("label_unsaid", 0)


def _names(keys: frozenset[str], others: frozenset[str]) -> bool:
    return bool(keys & others)


def _compare_addresses(found: Comparison, sentence: Facts, passage: Facts) -> None:
    known = passage.text.casefold()
    unknown = [each for each in (*emails(sentence.text), *(link for _, link in links(sentence.text))) if each.casefold() not in known]
    digits = re.sub(r"\D", "", passage.text)
    unknown += [phone for phone in phones(sentence.text) if re.sub(r"\D", "", phone) not in digits]
    found.add("unknown_addresses", min(len(unknown), 2))
    if unknown:
        found.doubt("name", unknown[0])


def _cell_conflict(sentence: Facts, best: Candidate) -> bool:
    """Return whether a figure stands in another column of the row than the one that the sentence names."""
    cells = [(frozenset(k for w in read_words(_joined(name)) for k in w.keys), read_facts(cell)) for name, cell in best.unit.cells[1:]]
    if len(cells) < 2:
        return False

    def own(keys: frozenset[str]) -> frozenset[str]:
        return keys.difference(*(other for other, _ in cells if other is not keys))

    for figure in sentence.figures:
        here = [own(keys) for keys, cell in cells if holds(figure, cell.figure_keys)]
        there = [own(keys) for keys, cell in cells if not holds(figure, cell.figure_keys)]
        if here and any(keys & sentence.keys for keys in there) and not any(keys & sentence.keys for keys in here):
            return True
    return False


def _joined(name: str) -> str:
    return NON_EU.sub("noneu", name)


def _nearer_figure(sentence: Facts, unit: Facts) -> bool:
    """Return whether all words of the sentence that stand near a figure of the unit stand near another one of its sort.

    "The rate for Medicare is 6.2 %" where the page has "Social Security is 6.2 % and Medicare is 1.45 %".
    """
    for figure in sentence.figures:
        own = [each for each in unit.figures if _same(figure, each)]
        rivals = [
            each for each in unit.figures
            if each not in own and _sort(each) == _sort(figure) and not any(_same(ours, each) for ours in sentence.figures)
        ]
        if not own or not rivals:
            continue
        votes = [0, 0]
        for word in sentence.content:
            places = [each.start for each in unit.content if each.keys & word.keys]
            nearest = [min((abs(p - f.start) for p in places for f in each), default=NEAR) for each in (own, rivals)]
            if min(nearest) < NEAR:
                votes[nearest[1] < nearest[0]] += 1
        if votes[1] and not votes[0]:
            return True
    return False


def _same(one: Figure, other: Figure) -> bool:
    return any(a & b for a in one.readings for b in other.readings)


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


def _sort(figure: Figure) -> str:
    is_date = any(key.startswith("d:") for reading in figure.readings for key in reading)
    return "date" if is_date else figure.measure
