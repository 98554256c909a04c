"""Numbers written in words, English and German, as digits; pure.

"three hundred and eighteen euros" becomes "318 euros", "zweihundertfünfzig" 250, "the fifteenth of June" "the 15th of
June", "fünfzehnten Juni" "15. Juni". A lone "one", "a" or "ein" stays, because it is mostly an article.
"""

import re

ONES = {
    "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11,
    "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18,
    "nineteen": 19, "dozen": 12,
    "zwei": 2, "drei": 3, "vier": 4, "fünf": 5, "sechs": 6, "sieben": 7, "acht": 8, "neun": 9, "zehn": 10, "elf": 11,
    "zwölf": 12, "dreizehn": 13, "vierzehn": 14, "fünfzehn": 15, "sechzehn": 16, "siebzehn": 17, "achtzehn": 18,
    "neunzehn": 19, "dutzend": 12,
}  # fmt: skip
TENS = {
    "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
    "zwanzig": 20, "dreißig": 30, "dreissig": 30, "vierzig": 40, "fünfzig": 50, "sechzig": 60, "siebzig": 70,
    "achtzig": 80, "neunzig": 90,
}  # fmt: skip
UNITS = {"one": 1, "ein": 1, "eins": 1, "eine": 1} | ONES
SCALES = {"hundred": 100, "thousand": 1000, "hundert": 100, "tausend": 1000}
ORDINALS = {
    "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9,
    "tenth": 10, "eleventh": 11, "twelfth": 12, "twentieth": 20, "thirtieth": 30,
    "erst": 1, "zweit": 2, "dritt": 3, "viert": 4, "fünft": 5, "sechst": 6, "siebt": 7, "acht": 8, "neunt": 9,
    "zehnt": 10, "elft": 11, "zwölft": 12,
} | {f"{name}th": n for name, n in ONES.items() if 13 <= n <= 19} | {
    f"{name}t": n for name, n in ONES.items() if 13 <= n <= 19
} | {f"{name}st": n for name, n in TENS.items()}  # fmt: skip
_MONTH = (
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december"
    r"|januar|februar|märz|mai|juni|juli|oktober|dezember)"
)
WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)?")
REPEATED = {"twice": "2 times", "thrice": "3 times"} | {
    f"{name}mal": f"{number} mal" for name, number in ONES.items() if name.isalpha() and 2 <= number <= 12
}
#: "the 15th to the 26th of June", "zwischen dem 15. und dem 26. Juni": the month is of both days.
DAY_RANGE = re.compile(
    r"\b(\d{1,2})(?:\.|st|nd|rd|th)?(\s*(?:–|-|to|and|bis|und|bis zum)\s*(?:the\s+|dem\s+|den\s+)?"
    rf"\d{{1,2}}(?:\.|st|nd|rd|th)?\s+(?:of\s+)?({_MONTH})\b)",
    re.IGNORECASE,
)
#: "vom 13. bis zum 24.09.": so is a month in figures.
DOTTED_RANGE = re.compile(
    r"\b(\d{1,2})\.(\s*(?:–|-|to|and|bis zum|bis|und)\s*(?:dem\s+|den\s+)?\d{1,2}\.(\d{1,2})\.)", re.IGNORECASE
)
#: "no later than two weeks before" is "at least two weeks before".
LEAD_TIME = re.compile(
    r"\b(?:(?P<german>spätestens|bis(?: zu)?)|no later than|not later than|up to|until)"
    r"(?=\s+\d+\s+[\w-]+\s+(?:vor|before|prior|in advance)\b)",
    re.IGNORECASE,
)
ORDINAL_DAY = re.compile(
    rf"\b([^\W\d_]+(?:-[^\W\d_]+)?)(\s+(?:of\s+|day\s+of\s+)?)(?={_MONTH}\b)|\b({_MONTH}\s+(?:the\s+)?)([^\W\d_]+(?:-[^\W\d_]+)?)",
    re.IGNORECASE,
)
CENTS = re.compile(
    r"(\d+)\s*(euros?|€|dollars?)(?:\s+(?:and|und))?\s+(\d{1,2})(?:\s*(?:cents?)\b|(?=\s*(?:[.,;]|$)))", re.I
)
COUNTED = re.compile(
    r"\b(one|a single|einen?|eine[mrs]?)(?=\s+(?:single\s+|full\s+|whole\s+|volles\s+|ganzes\s+)?(?:working\s+)?"
    r"(?:months?|weeks?|years?|days?|hours?|semesters?|attempts?|courses?|units?|pages?|half|Monats?|Monat|Woche|Jahr"
    r"|Jahres|Tag|Tages|Stunde|Semester|Semesters|Versuch|Werktag|Kurs)\b)",
    re.IGNORECASE,
)
#: "a two-week stay", "zweiwöchig", "ein dreisemestriges Studium": a number and what is counted, in one word.
COUNTED_ENGLISH = re.compile(
    r"\b([a-z]+|\d+)-(?=(?:minute|hour|day|week|month|semester|term|year|page|word|credit|unit|part|point)\b)",
    re.IGNORECASE,
)
COUNTED_GERMAN = re.compile(
    r"\b([a-zäöüß]+?|\d+)-?(minüt|stünd|täg|wöch|monat|semestr|jähr|seit|teil)ig(?:e[nrsm]?)?\b", re.IGNORECASE
)
MEASURES = {
    "minüt": "Minuten", "stünd": "Stunden", "täg": "Tage", "wöch": "Wochen", "monat": "Monate", "semestr": "Semester",
    "jähr": "Jahre", "seit": "Seiten", "teil": "Teile",
}  # fmt: skip


def split_counted(text: str) -> str:
    """Return the text with "two-week" as "2 week", "zweiwöchig" as "2 Wochen"."""

    def split(match: re.Match[str]) -> str:
        number = int(match[1]) if match[1].isdigit() else _value(match[1])
        if number is None:
            return match[0]
        return f"{number} {MEASURES[match[2].lower()]}" if match.lastindex == 2 else f"{number} "

    return COUNTED_GERMAN.sub(split, COUNTED_ENGLISH.sub(split, text))


def spell_out(text: str) -> str:
    """Return the text with its number words as digits, and what is said by figures in one way."""
    text = ORDINAL_DAY.sub(_as_day, text)
    pieces: list[str] = []
    ended = 0
    run: list[re.Match[str]] = []
    for match in WORD.finditer(text):
        word = match[0].lower()
        between = text[run[-1].end() : match.start()] if run else ""
        if run and (_value(word) is not None or word in SCALES or word == "and") and not between.strip(" \t-"):
            run.append(match)
            continue
        ended = _close(text, run, pieces, ended)
        if word in REPEATED:
            pieces += [text[ended : match.start()], REPEATED[word]]
            ended = match.end()
        run = [match] if _value(word) is not None or (word in SCALES) else []
    ended = _close(text, run, pieces, ended)
    pieces.append(text[ended:])
    text = CENTS.sub(r"\1.\3 \2", "".join(pieces))
    text = DOTTED_RANGE.sub(r"\1.\3.\2", DAY_RANGE.sub(r"\1 \3\2", text))
    return LEAD_TIME.sub(lambda match: "mindestens" if match["german"] else "at least", text)


def _close(text: str, run: list[re.Match[str]], pieces: list[str], ended: int) -> int:
    while run and run[-1][0].lower() == "and":
        run = run[:-1]
    if not run:
        return ended
    words = [match[0].lower() for match in run]
    if len(words) == 1 and words[0] in ("one", "ein", "eine", "eins"):
        return ended
    if "and" in words and not set(words) & SCALES.keys():  # "two and three" are two numbers
        for match in run:
            value = _value(match[0].lower())
            if value is not None and match[0].lower() not in ("one", "ein", "eine", "eins"):
                pieces += [text[ended : match.start()], str(value)]
                ended = match.end()
        return ended
    pieces += [text[ended : run[0].start()], str(_total(words))]
    return run[-1].end()


def _total(words: list[str]) -> int:
    total = current = 0
    for word in words:
        if word in ("thousand", "tausend"):
            total, current = total + max(current, 1) * 1000, 0
        elif word in ("hundred", "hundert"):
            current = max(current, 1) * 100
        elif (value := _value(word)) is not None:
            current += value
    return total + current


def _value(word: str) -> int | None:
    """Return the number that one word says, also a compound such as "twenty-five" or "zweihundertfünfzig"."""
    word = word.lower()
    if word in UNITS or word in TENS:
        return UNITS.get(word) or TENS[word]
    head, dash, tail = word.partition("-")
    if dash:
        return TENS[head] + UNITS[tail] if head in TENS and tail in UNITS else None
    return _german(word) if len(word) < 60 else None


def _german(word: str) -> int | None:
    head, found, tail = word.partition("tausend")
    if found:
        low, high = _below_thousand(head) if head else 1, _below_thousand(tail.removeprefix("und")) if tail else 0
        return None if low is None or high is None else low * 1000 + high
    return _below_thousand(word) if "hundert" in word or "und" in word else None


def _below_thousand(word: str) -> int | None:
    head, found, tail = word.partition("hundert")
    if found:
        low = UNITS.get(head) if head else 1
        high = _below_hundred(tail.removeprefix("und")) if tail else 0
        return None if low is None or high is None else low * 100 + high
    return _below_hundred(word)


def _below_hundred(word: str) -> int | None:
    if word in UNITS or word in TENS:
        return UNITS.get(word) or TENS[word]
    one, found, ten = word.partition("und")
    return UNITS[one] + TENS[ten] if found and one in UNITS and ten in TENS else None


def _as_day(match: re.Match[str]) -> str:
    if match[1]:
        day = _ordinal(match[1])
        return f"{day}.{match[2]}" if day and "of" not in match[2] else f"{day}th{match[2]}" if day else match[0]
    day = _ordinal(match[4])
    return f"{match[3]}{day}" if day else match[0]


def _ordinal(word: str) -> int | None:
    word = word.lower()
    if word in ORDINALS:
        return ORDINALS[word]
    head, dash, tail = word.partition("-")
    if dash and head in TENS and tail in ORDINALS:
        return TENS[head] + ORDINALS[tail]
    for ending in ("en", "er", "e", "es"):
        base = word.removesuffix(ending)
        if base != word and base in ORDINALS and not word.endswith("th"):
            return ORDINALS[base]
        one, found, ten = base.partition("und")
        if base != word and found and one in UNITS and ten.removesuffix("st") in TENS and ten.endswith("st"):
            return UNITS[one] + TENS[ten.removesuffix("st")]
    return None
