"""Figures of a text with what is said of them: their bound, their measure, what they come before or after; pure."""

import re
from dataclasses import dataclass

from chat.pipeline.guardrails import figures as notation

LEAST, MOST = "least", "most"
UPPER_BEFORE = re.compile(
    r"\b(?:at most|no(?:t)? more than|up to|(?:a )?maximum(?: of)?|max\.?|höchstens|maximal|bis zu|nicht mehr als"
    r"|not exceed\w*|within|innerhalb(?: von)?|binnen|under|less than|fewer than|below"
    r"|weniger als|unter|no longer than|kürzer als"
    r"|not (?:be )?older than|nicht älter als|no older than|younger than|limited to"
    r"|no later than|not later than|by|until"
    r"|till|before|prior to|latest|bis(?: zum| zur| spätestens)?|spätestens|vor(?: dem)?|through"
    r"|to|ends? (?:on|at)|deadline(?: is)?|nicht später als|limit of"
    r"|as much as|as many as|closes? (?:on|at)|endet?|schließt)[\s:]+(?:(?:the|dem|der|den|am|zum|on|at|of|about"
    r"|and including|einschließlich|monday|friday|einer|eine|ein|a)\s+){0,3}$",
    re.IGNORECASE,
)
STRONGLEASTPER = re.compile(
    r"\b(?:(?:nicht|not|no|never)(?: be)? (?:older|later|longer|more|higher|mehr|älter|länger"
    r"|später|höher) (?:than|als)|innerhalb(?: von)?"
    r"|binnen|within|at most|up to|bis zu|höchstens|maximal|no later than)\s+(?:(?:the|a|an|dem"
    r"|der|am|zum|eine[rsm]?)\s+){0,2}$",
    re.IGNORECASE,
)
LOWER_BEFORE = re.compile(
    r"\b(?:at least|no(?:t)? (?:less|fewer|earlier|sooner|younger|lower) than"
    r"|(?:a )?minimum(?: of)?|min\.?|mindestens|wenigstens|minimal|more than|over|above"
    r"|mehr als|über|exceed\w*|longer than|older than|länger als|älter als|from|after|since"
    r"|as of|starting(?: on| from)?|ab(?: dem)?|seit|nach(?: dem)?"
    r"|frühestens(?: ab| am)?|not before|not until|erst(?: ab| am)?|earliest|von|begin\w* (?:on"
    r"|at)|beginn\w*(?: am)?|opens? (?:on|at)|nicht weniger als|later than)[\s:]+"
    r"(?:(?:the|dem|der|den|am|zum|on|at|of|about|einem|einer|monday|friday|a)\s+){0,3}$",
    re.IGNORECASE,
)
UPPER_AFTER = re.compile(
    r"^[\s\w%€.]{0,14}\b(?:at the latest|or less|or fewer|oder weniger|maximum|maximal|at most"
    r"|höchstens|spätestens|latest|or younger|or earlier|oder früher)\b",
    re.I,
)
LOWER_AFTER = re.compile(
    r"^[\s\w%€.]{0,14}\b(?:or more|or higher|or above|or better|oder mehr|oder höher|oder besser"
    r"|and above|onwards|minimum|at the earliest|frühestens|at least|or older|mindestens"
    r"|oder später|or later|plus)\b",
    re.I,
)
ABOUT = re.compile(
    r"\b(?:about|around|approximately|roughly|some|circa|ca\.?|etwa|rund|ungefähr|nearly|almost|fast|knapp)\s+$", re.I
)
BEFORE = re.compile(r"\b(?:before|prior to|ahead of|vor(?:her)?|bevor|vorab|in advance|beforehand|until|bis)\b", re.I)
AFTER = re.compile(r"\b(?:after|following|since|nach(?:dem|her)?|afterwards|later|once|danach|seit|ab|from)\b", re.I)
LEAST_WORD = re.compile(
    r"\b(?:at least|minimum|no less than|not less than|no fewer than|mindestens|mindest\w+"
    r"|wenigstens|more than|mehr als|over|lowest|starting from|at the earliest|frühestens"
    r"|or more|or better)\b",
    re.I,
)
MOST_WORD = re.compile(
    r"\b(?:at most|maximum|no more than|not more than|up to|höchstens|höchst\w+|maximal|bis zu"
    r"|nicht mehr als|less than|fewer than|weniger als|within|innerhalb|cap(?:ped)?"
    r"|no later than|at the latest|spätestens|not older than|nicht älter als)\b",
    re.I,
)

MEASURE = re.compile(
    r"^\s?-?\s?(?:(?P<percent>%|per ?cent|prozent|percentage)|(?P<money>€|\$|£|euros?|eur|dollars?|usd)"
    r"|(?P<workday>working days?|business days?|werktag\w*|arbeitstag\w*)"
    r"|(?P<day>(?:calendar )?days?|tage?n?)|(?P<week>weeks?|wochen?)|(?P<month>months?"
    r"|monate?n?)"
    r"|(?P<year>years?|jahre?n?)|(?P<hour>hours?|stunden?|hrs?)|(?P<minute>minutes?|minuten?"
    r"|mins?)|(?P<semester>(?:[\w-]+)?semesters?n?)"
    r"|(?P<credit>ects|credits?|leistungspunkten?|credit points|units?)|(?P<times>times|mal"
    r"|-?mal|versuche?|attempts?)|(?P<words>words?|wörtern?)|(?P<page>pages?|seiten?)"
    r"|(?P<mb>mb|gb))\b",
    re.IGNORECASE,
)
MONEY_BEFORE = re.compile(r"(?:[€$£]|\b(?:eur|usd|us))\s?\$?\s?$", re.I)
#: "five cents" are 0.05 of what the page has a sign for.
CENTS = re.compile(r"\s?cents?\b", re.I)
SENTENCE_END = re.compile(r"\d{1,2}\.\d{1,2}\.")
#: How many of smaller measures one of a larger is.
EQUAL = {"week": (7,), "year": (12, 2), "day": (24,), "hour": (60,)}
#: Before a time that is said without its minutes: "from two to four".
TIME_BEFORE = re.compile(
    r"\b(?:from|to|till|until|at|after|before|between|and|past|von|bis|ab|nach|vor|um|zwischen|und)\s$", re.I
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


def read_figures(text: str) -> list[Figure]:
    """Return the figures of a text whose number words are digits already."""
    found = []
    places: dict[str, int] = {}
    for each in notation.figures(text):
        whole = re.compile(rf"(?<!\d){re.escape(each.text)}(?!\d)")  # "1" is no part of "2019"
        match = whole.search(text, places.get(each.text, 0)) or whole.search(text)
        start = match.start() if match else text.find(each.text)
        places[each.text] = start + 1
        end = start + len(each.text)
        before, behind = text[max(0, start - 60) : start], text[end : end + 60]
        measure = _measure(before, behind, each.text)
        readings = list(each.readings)
        if SENTENCE_END.fullmatch(each.text):  # "a grade of 2.7." is no date
            readings.append(frozenset({f"n:{float(each.text[:-1]):g}"}))
        if not measure and each.text.isdigit() and 1 <= int(each.text) <= 12 and TIME_BEFORE.search(before):
            readings += [frozenset({f"t:{(int(each.text) + half) * 60}"}) for half in (0, 12)]
        if CENTS.match(behind) and each.text.isdigit():
            readings.append(frozenset({f"n:{int(each.text) / 100:g}"}))
        if measure in EQUAL:
            multiples = (_times(k, n) for reading in each.readings for k in reading for n in EQUAL[measure])
            readings += [frozenset({f"n:{multiple}"}) for multiple in multiples if multiple]
        bound = ""
        if UPPER_AFTER.match(behind):
            bound = MOST
        elif LOWER_AFTER.match(behind):
            bound = LEAST
        elif STRONGLEASTPER.search(before):
            bound = MOST
        elif LOWER_BEFORE.search(before):
            bound = LEAST
        elif UPPER_BEFORE.search(before):
            bound = MOST
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
