"""Web addresses, e-mail addresses and telephone numbers in a text, disguised ones too; pure.

Texts are expected in their visible form: compatibility letters resolved, no zero-width characters.
"""

import re
from collections.abc import Iterable, Iterator

from chat.pipeline.guardrails import figures

#: "hxxp", "[.]", "(dot)", " at ": how addresses are written that shall not be found.
DISGUISES = (
    (re.compile(r"\bh(?:xx|\*\*|tt)p(s?)\s?(?:\[:\]|:)\s?/\s?/\s?", re.IGNORECASE), r"http\1://"),
    (re.compile(r"\s?(?:[\[({]\s?(?:\.|dot|punkt)\s?[\])}])\s?", re.IGNORECASE), "."),
    (re.compile(r"\s?(?:[\[({]\s?(?:@|at|ät)\s?[\])}])\s?", re.IGNORECASE), "@"),
    (re.compile(r"(?<=\w) at (?=[\w-]{1,60} (?:dot|punkt) \w)", re.IGNORECASE), "@"),
    (re.compile(r"(?<=\w) (?:dot|punkt) (?=\w)", re.IGNORECASE), "."),
    (re.compile(r"[。．｡․]"), "."),
)
_TLD = (
    "com|org|net|edu|gov|mil|int|info|biz|name|io|ai|app|dev|co|me|tv|cc|xyz|top|site|online|shop|store|club|live|"
    "link|click|cloud|tech|blog|news|wiki|space|website|world|pro|win|vip|icu|zip|mov|example|test|invalid|local|onion|"
    "eu|de|at|ch|fr|it|es|nl|be|pl|uk|us|ca|ru|cn|jp|in|br|dk|se|no|fi|pt|gr|cz|hu|ie|tk|ml|ga|cf|gq|ly|gl|gd|"
    "berlin|hamburg|bayern|koeln|academy|university|school|education"
)
SCHEME = re.compile(r"(?<![\w+.-])[a-z][a-z0-9+.-]{1,15}://[^\s<>\"'\[\]{}|\\^`]{1,2000}", re.IGNORECASE)
#: Lower or upper case as a whole: "ends.It is" is a lost blank.
BARE = re.compile(
    rf"(?<![\w@.-])(?<!\w/)(?:[\w-]{{1,63}}\.){{1,8}}(?:(?:{_TLD})|(?:{_TLD.upper()}))(?![\w-]|\.\w)(?::\d{{1,5}})?"
    r"(?:[/?#][^\s<>\"'\[\]{}|\\^`]{0,2000})?"
)
WITH_PATH = re.compile(
    r"(?<![\w@.-])(?<!\w/)(?:www\.[\w-]{1,63}(?:\.[\w-]{1,63}){0,7}|(?:[\w-]{1,63}\.){1,8}[a-z]{2,24}(?=/\w))"
    r"(?:[/?#][^\s<>\"'\[\]{}|\\^`]{0,2000})?",
    re.IGNORECASE,
)
ADDRESS = re.compile(r"(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?![\d.])(?::\d{1,5})?(?:/\S{0,2000})?")
SCRIPT = re.compile(r"\b(?:mailto|tel|sms|javascript|vbscript|file|blob):(?=[^\s])\S{1,2000}", re.IGNORECASE)
#: Nothing is tried a second time with fewer signs (`+` behind a number): it could not match then either.
LINKED = re.compile(
    r"(?<!!)\[(?:[^\[\]]|\[[^\[\]]{0,300}+\]){0,600}+\]\(\s{0,3}+<?+(?P<target>[^)\s>]{0,2000}+)[^)\n]{0,300}+\)"
)
DEFINITION = re.compile(r"^ {0,3}\[[^\[\]\n]{1,300}\]:[ \t]{0,9}<?(?P<target>\S{1,2000})", re.MULTILINE)
EMAIL = re.compile(r"(?<![\w.+-])[\w.+%-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}")
PHONE = re.compile(r"(?<![\w.,/-])(?:\+|\(?0|\(\d{3}\)|\d{3}[-. ]\d{3}[-. ]\d{4})[\d \u00a0()/.–-]{0,30}(?<=\d)(?!\d)")


def as_written(text: str) -> str:
    """With disguised addresses as they would be followed."""
    for disguise, plain in DISGUISES:
        text = disguise.sub(plain, text)
    return text


def links(text: str) -> Iterator[tuple[str, str]]:
    """(as it stands, the address) of everything that is a link or would be made one, disguised or not."""
    for pattern in (LINKED, DEFINITION):
        for match in pattern.finditer(text):
            yield match[0], match["target"]
    text = EMAIL.sub(" ", as_written(text))
    for pattern in (SCHEME, SCRIPT, WITH_PATH, BARE, ADDRESS):
        for match in pattern.finditer(text):
            yield match[0], match[0]
        text = pattern.sub(" ", text)


def without_links(text: str) -> str:
    """Remove what `links` and `emails` find from the text."""
    for pattern in (EMAIL, SCHEME, WITH_PATH, BARE, ADDRESS):
        text = pattern.sub(" ", text)
    return text


def normal(link: str) -> str:
    """Without what makes no difference: scheme, "www.", closing signs, case."""
    bare = re.sub(r"^(?:https?:)?//", "", link.casefold())
    return bare.removeprefix("www.").rstrip(".,;:!?)*_/»“”’")


def hosts(links: Iterable[str]) -> set[str]:
    """Return the hosts of addresses in their normal form."""
    return {re.split(r"[/?#:]", link, maxsplit=1)[0] for link in links}


def emails(text: str) -> Iterator[str]:
    for match in EMAIL.finditer(as_written(text)):
        yield match[0]


def phones(text: str) -> Iterator[str]:
    """Numbers of at least seven digits that are written like a telephone's, and no date or range of dates."""
    for match in PHONE.finditer(text):
        if sum(character.isdecimal() for character in match[0]) >= 7 and not figures.DOTTED.search(match[0]):
            yield match[0]
