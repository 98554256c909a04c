"""Sorts of things that a question asks for, such as money or a date, and whether a sentence has them; pure."""

import re

from chat.pipeline.verification.facts import Facts

#: What a question asks for, English and German.
SORTS = {
    "money": re.compile(
        r"\b(?:how much|what does .* cost|costs?|fees?|price|expensive|pay|wie ?viel (?:kostet|geld|zahl\w*)|kostet"
        r"|kosten|gebühr\w*|teuer|zahl\w*)\b",
        re.IGNORECASE,
    ),
    "duration": re.compile(r"\b(?:how (?:long|old|soon)|wie (?:lange|alt)|dauert?|duration)\b", re.IGNORECASE),
    "date": re.compile(
        r"\b(?:when|what time|deadlines?|by when|how late|opening hours|open|wann|frist\w*|uhrzeit|termin\w*"
        r"|öffnungszeit\w*|spätestens)\b",
        re.IGNORECASE,
    ),
    "count": re.compile(r"\b(?:how (?:many|often)|wie (?:viele|oft))\b", re.IGNORECASE),
    "place": re.compile(r"\b(?:where|who|which office|contact|wo|wohin|welche stelle|wer|wen)\b", re.IGNORECASE),
}
DURATIONS = frozenset({"day", "workday", "week", "month", "year", "hour", "minute", "semester"})
FREE = re.compile(r"\bfree\b|kostenlos|no tuition|keine", re.IGNORECASE)
CLOCK = re.compile(r"\d{1,2}[:.]\d\d|\b(?:week|month|day|woche|monat|tag)", re.IGNORECASE)
PLACE = re.compile(r"@|room|building|office|centre|raum|gebäude|büro|stelle|amt|zentrum|service", re.IGNORECASE)


def asked_sorts(question: str) -> list[str]:
    """Return the sorts of things that a question asks for, as keys of SORTS."""
    return [name for name, pattern in SORTS.items() if pattern.search(question)]


def has_sort(sort: str, facts: Facts, text: str) -> bool:
    """Return whether a sentence with these facts has something of a sort."""
    measures = {figure.measure for figure in facts.figures}
    match sort:
        case "money":
            return "money" in measures or bool(FREE.search(text))
        case "duration":
            return bool(measures & DURATIONS)
        case "date":
            keys = {key[:2] for figure in facts.figures for reading in figure.readings for key in reading}
            return bool(keys & {"d:", "t:"}) or bool(CLOCK.search(text))
        case "count":
            return bool(facts.figures)
    return bool(PLACE.search(text))
