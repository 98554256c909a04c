"""Deobfuscation: the text that a reader sees behind look-alike letters, spacing and encodings; pure and linear.

Nothing here is shown to anyone: the rules of `knowledge.guardrails.injection` and of `chat.pipeline.guardrails.output`
read it.
"""

import base64
import binascii
import codecs
import html
import re
import unicodedata
from collections.abc import Iterator
from urllib.parse import unquote

from core.terms import WORD

#: Letters of other scripts that look like Latin ones (Unicode TR 39, the ones that occur in practice).
LOOK_ALIKES = str.maketrans(
    "аеорсухіјѕԁһԛԝкмтвніοαεικνρτυχβηѵɡıⅼ",
    "aeopcyxijsdhqwkmtbhioaeiknptuxbnvgil",
)
LEET = str.maketrans("0134578@$", "oieastbas")
#: Letters that Unicode does not take apart into a Latin letter and its mark.
WHOLE = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "æ": "ae", "œ": "oe", "’": "'", "`": "'", "´": "'"})
#: Tag characters mirror ASCII and are never drawn; a flag has at most six.
TAGS = re.compile(r"[\U000e0020-\U000e007e]{7,}")
LATIN = re.compile(r"[a-z]")
MIXED = re.compile(r"(?<![\w@$])(?=\w*[a-z])[\w@$]*[0-9@$][\w@$]*")
#: "i g n o r e", "i.g.n.o.r.e", "i-g-n-o-r-e": five single letters at least.
SPACED = re.compile(r"(?<!\w)\w(?:[ ._*-]{1,3}\w){4,}(?!\w)")
SEPARATORS = re.compile(r"[ ._*-]+")
BASE64 = re.compile(r"(?<![\w+/])[A-Za-z0-9+/_-]{16,}={0,2}")
HEX = re.compile(r"(?:(?:\\x|0x|%)?[0-9a-fA-F]{2}[ ,:]?){10,}")
HEX_NOISE = re.compile(r"\\x|0x|[%\s,:]")
READABLE = re.compile(r"[\w\s.,;:!?'\"()/-]*")


def fold(text: str) -> str:
    """Fold text to lower-case Latin without marks, zero-width characters and look-alikes, and with single blanks."""
    decomposed = unicodedata.normalize("NFKD", text).casefold()
    visible = "".join(
        character for character in decomposed if unicodedata.category(character) not in ("Cf", "Mn", "Me", "Co")
    )
    latin = WORD.sub(lambda word: _latin(word[0]), visible.translate(WHOLE))
    return re.sub(r"[^\S\n]+", " ", latin)


def _latin(word: str) -> str:
    """Replace look-alikes in a word that also has Latin letters: a word of one other script is itself."""
    if word.isascii() or not LATIN.search(word):
        return word
    return word.translate(LOOK_ALIKES)


def deobfuscate(folded: str) -> list[str]:
    """Return further readings of folded text: figures as letters, spaced letters as words."""
    readings = []
    plain = MIXED.sub(lambda word: word[0].translate(LEET), folded)
    if plain != folded:
        readings.append(plain)
    if SPACED.search(plain):
        readings.append(SPACED.sub(lambda run: SEPARATORS.sub("", run[0]), plain))
    return readings


def decoded(text: str) -> Iterator[str]:
    """Yield text hidden in base64, hexadecimal digits, percent signs, HTML entities or tag characters.

    Only readable text is yielded: a long word is no payload.
    """
    for run in BASE64.finditer(text):
        yield from _readable(_from_base64(run[0]))
    for run in HEX.finditer(text):
        digits = HEX_NOISE.sub("", run[0])
        if not digits.isdecimal():  # a row of figures is a number, far more often
            yield from _readable(binascii.unhexlify(digits[: len(digits) // 2 * 2]))
    for tags in TAGS.finditer(text):
        yield "".join(chr(ord(character) - 0xE0000) for character in tags[0])
    for plain in (unquote(text), html.unescape(text)):
        if plain != text:
            yield plain


def rot13(folded: str) -> tuple[str, str]:
    """Return folded text read by ROT13 and backwards: nonsense, unless it was turned before."""
    return codecs.encode(folded, "rot13"), folded[::-1]


def _from_base64(run: str) -> bytes:
    letters = run.rstrip("=").replace("-", "+").replace("_", "/")
    return base64.b64decode(letters[: len(letters) // 4 * 4])


def _readable(data: bytes) -> Iterator[str]:
    """Yield the text of bytes that are text: cut within a character at most at the end."""
    text = data.decode("utf-8", errors="ignore")
    if len(text) >= 10 and len(text.encode()) >= len(data) - 3 and READABLE.fullmatch(text) and " " in text:
        yield text
