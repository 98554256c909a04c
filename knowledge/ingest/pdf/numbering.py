"""How headings are numbered and named; pure."""

import re

_ROMAN = r"(?:(?=[MDCLXVI]+\b)M{0,3}(?:C[MD]|D?C{0,3})(?:X[CL]|L?X{0,3})(?:IX|IV|V?I{0,3}))"
_WORD = (
    r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|"
    r"eighteen|nineteen|twenty(?:[- ]?\w+)?)"
)
KINDS: list[tuple[str, re.Pattern[str]]] = [
    ("part", re.compile(rf"^(?:part|teil|buch)\s+(?:\d+|{_ROMAN}|[A-Z]|{_WORD})\b", re.IGNORECASE)),
    (
        "chapter",
        re.compile(
            rf"^(?:chapter|kapitel|appendix|anhang|abschnitt)\s+(?:\d+|{_ROMAN}|[A-Z]|{_WORD})\b", re.IGNORECASE
        ),
    ),
    ("paragraph", re.compile(r"^(?:§+|art(?:ikel|icle|\.)|section)\s*\d+[a-z]?\b", re.IGNORECASE)),
    ("number", re.compile(r"^\d{1,3}(?:\.\d{1,3})*\.?\s+(?=\S*[^\W\d_])")),
    ("letter", re.compile(r"^[A-Z](?:\.\d{1,3})+\.?\s+(?=\S*[^\W\d_])")),
    ("roman", re.compile(r"^(?:[IVX]+\.|[IVX]{2,})\s+(?=\S*[^\W\d_])")),
    ("alphabet", re.compile(r"^[A-Z][.)]?\s+(?=[A-ZÄÖÜ\d])")),
]
RANK = {
    name: rank for rank, name in enumerate(["part", "chapter", "roman", "alphabet", "paragraph", "number", "letter"])
}
NUMBERING = re.compile(
    rf"^(?:(?:part|teil|chapter|kapitel|appendix|anhang|section|abschnitt)\s+)?(?:\d{{1,3}}(?:\.\d{{1,3}})*|[A-Z](?:\.\d{{1,3}})+|{_ROMAN}|[A-Z])[.:)]?\s+",
    re.IGNORECASE,
)
#: A line of its own over a chapter's title.
LABEL = re.compile(
    rf"^(?:(?:chapter|kapitel|appendix|anhang|part|teil)\s*(?:\d+|{_ROMAN}|[A-Z]|{_WORD})?|{_WORD})\.?$", re.IGNORECASE
)
CAPTION = re.compile(
    r"^(?:table|tabelle|tab\.|figure|fig\.|abbildung|abb\.|listing|example|beispiel|diagram|diagramm)\s*\d",
    re.IGNORECASE,
)
#: Names of boxes in a text, which stand above nothing but the box.


def kind_of(text: str) -> tuple[str, int]:
    """How a heading is numbered, and how deep: (“number”, 2) for “1.2 Fees”."""
    for name, pattern in KINDS:
        if found := pattern.match(text):
            depth = len(re.findall(r"\d+", found.group())) if name in {"number", "letter"} else 1
            return ("number", depth + 1) if name == "letter" else (name, depth)
    return "", 0


def bare(title: str) -> str:
    """Without its number."""
    return NUMBERING.sub("", title, count=1)
