"""Facts of one text: its words with their sign, its figures with their bounds, modality, quantity, conditions; pure."""

import re
from dataclasses import dataclass
from functools import lru_cache

from chat.pipeline.guardrails import figures as notation
from chat.pipeline.verification.numerals import COUNTED, spell_out
from chat.pipeline.verification.signals import (
    ANSWER,
    CONDITION,
    EXCEPTION,
    find_modality,
    find_negators,
    find_quantities,
    split_clauses,
)
from chat.pipeline.verification.words import Word, fold, opposites, read_words

NON_EU = re.compile(r"\bnon-?\s?eu\b|\bnicht-eu\b|\bnon-eu/eea\b", re.IGNORECASE)
#: How many words of meaning a negating word reaches, behind it and, for German "nicht", before it.
REACH = 2

_UP, _DOWN = "least", "most"
UPPER_BEFORE = re.compile(
    r"\b(?:at most|no(?:t)? more than|up to|(?:a )?maximum(?: of)?|max\.?|höchstens|maximal|bis zu|nicht mehr als"
    r"|not exceed\w*|within|innerhalb(?: von)?|binnen|under|less than|fewer than|below|weniger als|unter|no longer than|kürzer als"
    r"|not (?:be )?older than|nicht älter als|no older than|younger than|limited to|no later than|not later than|by|until"
    r"|till|before|prior to|latest|bis(?: zum| zur| spätestens)?|spätestens|vor(?: dem)?|through|to|ends? (?:on|at)|deadline(?: is)?|nicht später als|limit of"
    r"|as much as|as many as|closes? (?:on|at))[\s:]+(?:(?:the|dem|der|den|am|zum|on|at|of|about|and including|einschließlich|monday|friday|einer|eine|ein|a)\s+){0,3}$",
    re.IGNORECASE,
)
STRONG_UPPER = re.compile(
    r"\b(?:(?:nicht|not|no|never)(?: be)? (?:older|later|longer|more|higher|mehr|älter|länger|später|höher) (?:than|als)|innerhalb(?: von)?"
    r"|binnen|within|at most|up to|bis zu|höchstens|maximal|no later than)\s+(?:(?:the|a|an|dem|der|am|zum|eine[rsm]?)\s+){0,2}$",
    re.IGNORECASE,
)
LOWER_BEFORE = re.compile(
    r"\b(?:at least|no(?:t)? (?:less|fewer|earlier|sooner|younger|lower) than|(?:a )?minimum(?: of)?|min\.?|mindestens|wenigstens|minimal|more than|over|above"
    r"|mehr als|über|exceed\w*|longer than|older than|länger als|älter als|from|after|since|as of|starting(?: on| from)?|ab(?: dem)?|seit|nach(?: dem)?"
    r"|frühestens(?: ab| am)?|not before|not until|erst(?: ab| am)?|earliest|von|begin\w* (?:on|at)|beginn\w*(?: am)?|opens? (?:on|at)|nicht weniger als|later than)[\s:]+"
    r"(?:(?:the|dem|der|den|am|zum|on|at|of|about|einem|einer|monday|friday|a)\s+){0,3}$",
    re.IGNORECASE,
)
UPPER_AFTER = re.compile(r"^[\s\w%€.]{0,14}\b(?:at the latest|or less|or fewer|oder weniger|maximum|maximal|at most|höchstens|spätestens|latest|or younger|or earlier|oder früher)\b", re.I)
LOWER_AFTER = re.compile(
    r"^[\s\w%€.]{0,14}\b(?:or more|or higher|or above|or better|oder mehr|oder höher|oder besser|and above|onwards|minimum|at the earliest|frühestens|at least|or older|mindestens|oder später|or later|plus)\b", re.I
)
ABOUT = re.compile(r"\b(?:about|around|approximately|roughly|some|circa|ca\.?|etwa|rund|ungefähr|nearly|almost|fast|knapp)\s+$", re.I)
BEFORE = re.compile(r"\b(?:before|prior to|ahead of|vor(?:her)?|bevor|vorab|in advance|beforehand|until|bis)\b", re.I)
AFTER = re.compile(r"\b(?:after|following|since|nach(?:dem|her)?|afterwards|later|once|danach|seit|ab|from)\b", re.I)
LEAST_WORD = re.compile(r"\b(?:at least|minimum|no less than|not less than|no fewer than|mindestens|mindest\w+|wenigstens|more than|mehr als|over|lowest|starting from|at the earliest|frühestens|or more|or better)\b", re.I)
MOST_WORD = re.compile(r"\b(?:at most|maximum|no more than|not more than|up to|höchstens|höchst\w+|maximal|bis zu|nicht mehr als|less than|fewer than|weniger als|within|innerhalb|cap(?:ped)?|no later than|at the latest|spätestens|not older than|nicht älter als)\b", re.I)

MEASURE = re.compile(
    r"^\s?-?\s?(?:(?P<percent>%|per ?cent|prozent|percentage)|(?P<money>€|\$|£|euros?|eur|dollars?|usd)"
    r"|(?P<workday>working days?|business days?|werktag\w*|arbeitstag\w*)|(?P<day>(?:calendar )?days?|tage?n?)|(?P<week>weeks?|wochen?)|(?P<month>months?|monate?n?)"
    r"|(?P<year>years?|jahre?n?)|(?P<hour>hours?|stunden?|hrs?)|(?P<minute>minutes?|minuten?|mins?)|(?P<semester>(?:[\w-]+)?semesters?n?)"
    r"|(?P<credit>ects|credits?|leistungspunkten?|credit points|units?)|(?P<times>times|mal|-?mal|versuche?|attempts?)|(?P<words>words?|wörtern?)|(?P<page>pages?|seiten?)"
    r"|(?P<mb>mb|gb))\b",
    re.IGNORECASE,
)
MONEY_BEFORE = re.compile(r"(?:[€$£]|\b(?:eur|usd|us))\s?\$?\s?$", re.I)
SENTENCE_END = re.compile(r"\d{1,2}\.\d{1,2}\.")
#: How many of a smaller measure one of a larger is.
EQUAL = {"week": [("day", 7)], "year": [("month", 12)], "month": [], "hour": [("minute", 60)], "day": [("hour", 24)]}
FRACTIONS = (
    (re.compile(r"\b(?:half|halves|hälfte|halb\w*)\b", re.I), ("n:50", "n:0.5", "n:6", "n:30")),
    (re.compile(r"\b(?:a quarter|viertel|one quarter)\b", re.I), ("n:25", "n:0.25", "n:3", "n:15")),
    (re.compile(r"\b(?:one third|a third|drittel)\b", re.I), ("n:33",)),
    (re.compile(r"\b(?:twice|zweimal|double|doubles|doppelt\w*|both|two-year|beide\w*|pair|couple)\b", re.I), ("n:2",)),
    (re.compile(r"\b(?:thrice|dreimal|triple)\b", re.I), ("n:3",)),
    (
        re.compile(
            r"\b(?:once|einmal\w*|single|only one|yearly|annual\w*|jährlich\w*|monthly|monatlich\w*|weekly|daily|täglich)\b"
            r"|\b(?:an?|one|each|per|pro|im|am|every|jede\w*|eine?[nmrs]?)\s+(?:[\w-]+\s+)?(?:year|month|week|day|hour|semester|course"
            r"|page|attempt|jahr|monat|woche|tag|stunde|semester|kurs|versuch|seite|fachsemester)",
            re.I,
        ),
        ("n:1",),
    ),
    (re.compile(r"\b(?:annual\w*|jährlich\w*|years?|jahr\w*)\b", re.I), ("n:12",)),
    (re.compile(r"\b(?:noon|midday|mittags?)\b", re.I), ("t:720", "n:12")),
    (re.compile(r"\b(?:midnight|mitternacht)\b", re.I), ("t:0", "t:1440", "t:1439")),
    (re.compile(r"\b(?:fortnight)\b", re.I), ("n:14", "n:2")),
    (re.compile(r"\bend of (?:january|march|may|july|august|october|december)|ende (?:januar|märz|mai|juli|august|oktober|dezember)", re.I), ("n:31",)),
)


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure with all keys that say the same; `bound` is "least", "most" or "", `measure` what is counted."""

    text: str
    readings: tuple[frozenset[str], ...]
    bound: str
    measure: str
    relation: str
    is_approximate: bool
    start: int


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything about one text that is compared."""

    text: str
    words: tuple[Word, ...]
    keys: frozenset[str]
    #: Every key of a content word with the signs that it has in the text: +1 stated, -1 denied.
    signs: dict[str, frozenset[int]]
    #: Opposites that the text names, with the sign that negation leaves them: "accept" -> {-1}.
    poles: dict[str, frozenset[int]]
    negations: int
    answer: str
    figures: tuple[Figure, ...]
    figure_keys: frozenset[str]
    modality: frozenset[str]
    quantities: frozenset[str]
    bounds: frozenset[str]
    relations: frozenset[str]
    #: What comes before or after which words: "before" with the keys of the three words behind it.
    orders: tuple[tuple[str, frozenset[str]], ...]
    #: Spans of conditions and exceptions, as text.
    conditions: tuple[str, ...]
    exceptions: tuple[str, ...]

    @property
    def content(self) -> tuple[Word, ...]:
        return tuple(word for word in self.words if word.keys)


@lru_cache(maxsize=4096)
def read_facts(text: str) -> Facts:
    """Return the facts of a sentence or unit."""
    text = NON_EU.sub("noneu", spell_out(COUNTED.sub(" 1", text)))
    words = tuple(read_words(text))
    negators = find_negators(text)
    signs, poles = _signs(text, words, negators)
    figures = tuple(_figures(text))
    match = ANSWER.match(text)
    clauses = split_clauses(text)
    bounds = {each.bound for each in figures if each.bound}
    bounds |= {_UP} if LEAST_WORD.search(text) else set()
    bounds |= {_DOWN} if MOST_WORD.search(text) else set()
    return Facts(
        text=text,
        words=words,
        keys=frozenset(key for word in words for key in word.keys),
        signs=signs,
        poles=poles,
        negations=len(negators),
        answer=("yes" if match["yes"] else "no") if match else "",
        figures=figures,
        figure_keys=frozenset(key for figure in figures for reading in figure.readings for key in reading)
        | frozenset(key for pattern, keys in FRACTIONS if pattern.search(text) for key in keys),
        modality=frozenset(find_modality(text)),
        quantities=frozenset(find_quantities(text[match.end() :] if match else text)),
        bounds=frozenset(bounds),
        relations=frozenset(
            name for name, pattern in (("before", BEFORE), ("after", AFTER)) if pattern.search(text)
        ),
        orders=tuple(_orders(text, words)),
        conditions=tuple(_tails(text, CONDITION, clauses)),
        exceptions=tuple(_tails(text, EXCEPTION, clauses)),
    )


def _tails(text: str, marker: re.Pattern[str], clauses: object) -> list[str]:
    """Return what follows each marker up to the end of its clause."""
    found = []
    for match in marker.finditer(text):
        rest = text[match.end() : match.end() + 160]
        end = re.search(r"[,;:.!?](?!\d)|\s[–—]\s", rest[1:])
        found.append(rest[: end.start() + 1] if end else rest)
    return found


def _signs(
    text: str, words: tuple[Word, ...], negators: list[tuple[int, int]]
) -> tuple[dict[str, frozenset[int]], dict[str, frozenset[int]]]:
    clauses = split_clauses(text)
    denied: dict[int, int] = {}
    content = [place for place, word in enumerate(words) if word.keys]
    for start, end in negators:
        first, last = clauses.around(start)
        behind = [p for p in content if end <= words[p].start < last][: REACH + 1]
        before = [p for p in content if first <= words[p].start < start][-REACH:]
        reached = behind[:REACH]
        if text[start:end].lower() in ("nicht", "nie", "niemals", "weder") or not behind:
            reached = behind[:REACH] + before[-(REACH if not behind else 1) :]
        for place in reached:
            denied[place] = denied.get(place, 0) + 1
    signs: dict[str, set[int]] = {}
    poles: dict[str, set[int]] = {}
    names = opposites()
    for place, word in enumerate(words):
        sign = -1 if denied.get(place, 0) % 2 else 1
        pole = names.get(fold(word.text))
        if pole:
            poles.setdefault(pole[1:], set()).add(sign if pole[0] == "+" else -sign)
            if pole[0] == "-":
                sign = -sign
        for key in word.keys:
            signs.setdefault(key, set()).add(sign)
    return (
        {key: frozenset(found) for key, found in signs.items()},
        {key: frozenset(found) for key, found in poles.items()},
    )


def _figures(text: str) -> list[Figure]:
    found = []
    places: dict[str, int] = {}
    for each in notation.figures(text):
        start = text.find(each.text, places.get(each.text, 0))
        if start < 0:
            start = text.find(each.text)
        places[each.text] = start + 1
        end = start + len(each.text)
        before, behind = text[max(0, start - 60) : start], text[end : end + 60]
        measure = _measure(before, behind, each.text)
        readings = list(each.readings)
        if SENTENCE_END.fullmatch(each.text):  # "a grade of 2.7." is no date
            readings.append(frozenset({f"n:{float(each.text[:-1]):g}"}))
        if measure in EQUAL:
            for smaller, factor in EQUAL[measure]:
                readings += [frozenset({f"n:{_times(key, factor)}"}) for r in each.readings for key in r if _times(key, factor)]
        elif measure in ("day", "month"):
            factor = 7 if measure == "day" else 12
            readings += [
                frozenset({f"n:{int(key[2:]) // factor}"})
                for r in each.readings for key in r
                if key[2:].isdigit() and int(key[2:]) >= factor and int(key[2:]) % factor == 0
            ]
        bound = ""
        if UPPER_AFTER.match(behind):
            bound = _DOWN
        elif LOWER_AFTER.match(behind):
            bound = _UP
        elif STRONG_UPPER.search(before):
            bound = _DOWN
        elif LOWER_BEFORE.search(before):
            bound = _UP
        elif UPPER_BEFORE.search(before):
            bound = _DOWN
        after_figure = re.sub(r"^\s?\w+", "", behind)[:24]
        relation = "before" if BEFORE.search(after_figure) else "after" if AFTER.search(after_figure) else ""
        found.append(Figure(each.text, tuple(readings), bound, measure, relation, bool(ABOUT.search(before)), start))
    return found


def _times(key: str, factor: int) -> str:
    return str(int(key[2:]) * factor) if key.startswith("n:") and key[2:].isdigit() else ""


def _measure(before: str, behind: str, text: str) -> str:
    if match := MEASURE.match(behind):
        return match.lastgroup or ""
    if MONEY_BEFORE.search(before):
        return "money"
    return ""


def _orders(text: str, words: tuple[Word, ...]) -> list[tuple[str, frozenset[str]]]:
    found = []
    for name, pattern in (("before", BEFORE), ("after", AFTER)):
        for match in pattern.finditer(text):
            behind = [word for word in words if word.keys and match.end() <= word.start < match.end() + 60][:3]
            if behind:
                found.append((name, frozenset(key for word in behind for key in word.keys)))
    return found
