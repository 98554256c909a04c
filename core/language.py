"""Language detection by function words, and days written in a language."""

import datetime
import re

from django.utils import translation
from django.utils.formats import date_format

from core.terms import LETTERS
from core.text import nfc

#: Words of one of the two languages only: "was", "in" and "die" are in both.
ENGLISH = frozenset(
    LETTERS.findall(
        """
    the of and to is that for with are be on by this from or at which not it have can you what when where who why how
    do does did i my me we our there much many should would could will has if about your any
    """
    )
)
GERMAN = frozenset(
    LETTERS.findall(
        """
    der das und den von zu mit im ist des für auf dem nicht ein eine einen einer als auch es werden wird oder bei wie
    wann wo wer warum welche welcher welches welchen ich mein meine meinen mich mir wir kann können muss gibt über
    sind habe haben zum zur bis aus sich nach noch wenn ob sie
    """
    )
)
GERMAN_LETTERS = re.compile(r"[äöüß]")
#: A language's tag (BCP 47), without what few need of it.
TAG = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})?")
TAG_FIRST = re.compile(rf"{TAG.pattern}(?![A-Za-z0-9])")
#: The beginning of a text is enough.
LOOKED_AT = 200_000


def tag_in(text: str) -> str:
    """Find the language tag that a locale name begins with, such as `de-DE` in de_DE.UTF-8; empty if there is none."""
    found = TAG_FIRST.match(text.strip().replace("_", "-"))
    main, hyphen, variety = found[0].partition("-") if found else ("", "", "")
    return f"{main.lower()}{hyphen}{variety}"


def detect_language(text: str) -> str | None:
    """Detect `de` or `en` by which language's words are more frequent; None if neither is."""
    text = nfc(text[:LOOKED_AT])
    words = [word.casefold() for word in LETTERS.findall(text.replace("ß", "ss"))]
    german = sum(word in GERMAN for word in words) + bool(GERMAN_LETTERS.search(text.casefold()))
    english = sum(word in ENGLISH for word in words)
    return None if german == english else "de" if german > english else "en"


def guess_language(text: str) -> str:
    """Guess `de` or `en`: English if it cannot be detected."""
    return detect_language(text) or "en"


def format_day(day: datetime.date, language: str) -> str:
    """Write a day with its month as a word, which nobody mistakes for the day."""
    with translation.override(language):
        return date_format(day, "j. F Y" if language == "de" else "j F Y")
