"""Find addresses, telephone numbers, bank details and accounts in a sentence, disguised ones too.

The patterns find too much on purpose. A sentence with a find that the page's sentence lacks is not shown as written.
"""

import html
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

#: Cyrillic and Greek letters that look like Latin ones.
LOOK_ALIKE = str.maketrans(
    "аеорсхуіјѕԁɡһӏԛԝвкмнтАЕОРСХУІЈЅВКМНТαενορτυχικωΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
    "aeopcxyijsdghlqwbkmhtAEOPCXYIJSBKMHTaevoptuxikwABEZHIKMNOPTYX",
)
DOTS = re.compile(r"[。．｡․‧・·•∙⋅]")
_DOT = r"(?:dot|punkt|period|point|full[ -]?stop)"
_AT = r"(?:at|ät|bei|klammeraffe|affenschwanz)"
_END = (
    r"(?:com|org|net|edu|info|biz|name|io|ai|app|dev|co|xyz|top|site|online|shop|store|club|link|click|example|test|"
    r"invalid|de|ch|at|eu|fr|uk|ru|cn|me|cc|tk|berlin|hamburg|academy|university|school)"
)
#: The ends of three letters and more, as IANA's root zone has them. After "point" or "period" none is a common word.
_ANY_END = "|".join((Path(__file__).parent / "top_level_domains.txt").read_text("utf-8").split())
_DIGIT = (
    r"(?:zero|oh|one|two|three|four|five|six|seven|eight|nine|double|triple|null|eins?|zwei|zwo|drei|vier|fünf|sechs|"
    r"sieben|acht|neun|doppel)"
)
#: Each word is tried once, from its beginning, so that a long one takes linear time.
_WORD = r"(?<![\w-])[\w-]{1,63}"
PATTERNS = tuple(
    re.compile(pattern)
    for pattern in (
        r"(?<!\S)\S{0,100}@\s?\S+",
        r"(?<!\S)\S{1,100}?:\s?/\s?/\s?\S+",
        r"\bwww\b\S*|\bxn--\S+|\b(?:mailto|tel|sms):\S+",
        # Labels of one letter are abbreviations: "z.B.", "B.Sc".
        r"(?<![\w.-])(?:[\w-]{1,63}\.){0,8}[\w-]{2,63}\.[^\W\d_]{2,24}(?!\w)(?:/\S*)?",
        rf"{_WORD}\s+[.]\s*[^\W\d_]{{2,24}}\b",
        rf"{_WORD}\s*[\[({{<]\s*(?:\.|@|{_DOT}|{_AT})\s*[\])}}>]\s*[\w-]{{1,63}}",
        rf"{_WORD}[\s-]dot[\s-][\w-]{{1,63}}|{_WORD}(?<=[^\W\d_])\s?\.\s{_END}\b(?!\s\w)",
        rf"{_WORD}\s{_DOT}\s(?:{_END}|{_ANY_END})\b",
        rf"{_WORD}\s{_AT}\s[\w-]{{1,63}}(?:\s[\w-]{{1,63}})?\s{_DOT}\s\w+",
        r"(?<!\b\w\s)(?:\b\w\s){3,40}(?:[.@]|dot|punkt)\s",
        rf"{_WORD}\s(?:slash|schrägstrich)\s[\w-]{{1,63}}",
        r"\b(?:telegram|whatsapp|instagram|insta|signal|discord|tiktok|snapchat|facebook|messenger|wechat|viber|skype|"
        r"threema|paypal|revolut|bitcoin|btc|iban|bic)\b",
        r"\b[a-z]{2}\d{2}(?:\s?[\da-z]{4}){3,}",
        r"\b(?=[a-z]{0,100}\d)[\da-z]{20,}\b",
        rf"\b{_DIGIT}(?:[\s,-]+{_DIGIT}){{3,}}\b",
    )
)
MIXED = re.compile(r"\b(?=\w{0,63}[\u0370-\u04ff])(?=\w{0,63}[a-z])\w+", re.IGNORECASE)


def fold(text: str) -> str:
    """Return a text as it is read: entities and percent signs resolved, look-alike letters Latin, in lower case."""
    plain = unicodedata.normalize("NFKC", unquote(html.unescape(text)))
    plain = "".join(sign for sign in plain if unicodedata.category(sign) != "Cf")
    return " ".join(DOTS.sub(".", plain).translate(LOOK_ALIKE).casefold().split())


def leads(text: str) -> Iterator[str]:
    """Yield each part of a text, folded, that may be an address, a number to call or to pay to, or an account."""
    for word in MIXED.findall(unicodedata.normalize("NFKC", text)):
        yield word.casefold()
    folded = fold(text)
    for pattern in PATTERNS:
        for match in pattern.finditer(folded):
            yield match[0].strip(" .,;:!?()\"'")


def unknown_leads(text: str, known: str) -> list[str]:
    """Return what a text leads to that does not stand in `known`."""
    # A word of two alphabets is compared as it is written, everything else as it is read.
    there = f"{fold(known)}\n{unicodedata.normalize('NFKC', known).casefold()}"
    return [lead for lead in dict.fromkeys(leads(text)) if lead not in there]
