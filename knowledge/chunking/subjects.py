"""Degree programmes, degrees, courses and years that a text names; pure."""

import re

from knowledge.chunking.periods import named

#: "M.Sc. Data Science", "Lehramt Gymnasium".
PROGRAMME = re.compile(
    r"\b(?:[BM]\.?\s?(?:Sc|A|S|Ed|Eng)\b\.?|(?:Bachelor|Master)(?:\sof)?|Lehramt|(?:Bachelor|Master)studiengang)(?:['’]s)?\s"
    r"(?P<name>(?:[A-ZÄÖÜ][\w-]+)(?:\s(?:(?:and|of|und|in)\s)?[A-ZÄÖÜ][\w-]+){0,3})"
)
#: "CS-101", "15-213".
COURSE = re.compile(r"\b\d{2}-\d{3}\b|\b[A-Z]{2,5}[ -]?\d{3,4}\b")
DEGREES = {
    "bachelor": re.compile(r"\bbachelor\w*|\bB\.?\s?(?:Sc|A|Ed|Eng)\b", re.IGNORECASE),
    "master": re.compile(r"\bmaster(?!ing|y\b)\w*|\bM\.?\s?(?:Sc|A|Ed|Eng)\b", re.IGNORECASE),
    "doctorate": re.compile(r"\b(?:doctora\w*|ph\.?\s?d|promotion\w*|promovier\w*|doktor\w*)\b", re.IGNORECASE),
    "teaching": re.compile(r"\bLehramt\w*|\bteacher training\b", re.IGNORECASE),
}
WORD = re.compile(r"[^\W\d_]{3,}")


def read_programmes(text: str) -> frozenset[frozenset[str]]:
    """Return the words of each programme's name."""
    return frozenset(frozenset(WORD.findall(match["name"].lower())) for match in PROGRAMME.finditer(text))


def name_others(one: str, other: str) -> bool:
    """Return whether both texts name programmes, degrees, courses or years, and none in common."""
    pairs = zip(_read_names(one), _read_names(other), strict=True)
    if any(names and others and not names & others for names, others in pairs):
        return True
    ours, theirs = named(one), named(other)
    return bool(ours and theirs) and not any(a.begin < b.end and b.begin < a.end for a in ours for b in theirs)


def _read_names(text: str) -> list[frozenset[object]]:
    """Return the programmes, the degrees and the codes of courses."""
    return [
        frozenset(read_programmes(text)),
        frozenset(name for name, pattern in DEGREES.items() if pattern.search(text)),
        frozenset(re.sub(r"[ -]", "", code[0]) for code in COURSE.finditer(text)),
    ]
