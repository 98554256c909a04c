"""Whether two documents are editions of one matter: titles and addresses alike but for the term, texts alike; pure.

A wrong pair hides a page that a student needs, so every doubt is decided against it.
"""

import re
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from urllib.parse import urlsplit

from core.hashing import fingerprint
from core.terms import LETTERS, WORD
from knowledge.chunking.page_markers import MARKER
from knowledge.chunking.periods import mentions
from knowledge.chunking.plain_text import make_plain
from knowledge.editions.terms import Term, readable_address

_ENGLISH = (
    "a an and at by for from in of on the to valid since as version edition term semester trimester year academic new"
    " old current archive archived"
)
_GERMAN = (
    "stand fassung ausgabe gültig ab für das der die den dem des im zum zur vom von und jahr studienjahr neu alt"
    " aktuell archiv ws wise ss sose wintersemester sommersemester"
)
_ADDRESSES = (
    "html htm php pdf docx doc odt rtf asp aspx jsp www index default node page pages seite seiten id content files"
    " file fileadmin uploads upload media download downloads documents dokumente sites final v en de"
)
#: Words around a term that tell no matter: "for the", "Stand", "version of".
FILLERS = frozenset(f"{_ENGLISH} {_GERMAN}".split())
#: Words of addresses that tell no matter either.
PATH_FILLERS = FILLERS | frozenset(_ADDRESSES.split())
NUMBER = re.compile(r"\d+")
SHINGLE_WORDS = 3
#: Characters of a text that are compared.
COMPARED_CHARACTERS = 30_000
#: Beginning of a text, where a page says whose it is.
OPENING_WORDS = 60
#: Least share of the shorter text's runs of words that stand in the other one: where titles and addresses agree wholly,
#: and where addresses differ in numbers, so that the texts alone must tell.
LEAST_ALIKE, LEAST_ALIKE_ALONE = 0.25, 0.8
#: Two documents of one term are the same page twice if they have so many of the longer one's runs of words in common.
LEAST_SAME = 0.9
#: A word may be in one text alone, if it stands there so often at most: names of faculties and programmes recur.
MOST_REPEATED = 1


@dataclass(frozen=True, slots=True)
class Sketch:
    """What of a document is compared: the numbers of its address, its runs of words, its words and its first ones."""

    numbers: tuple[str, ...]
    shingles: AbstractSet[int]
    counts: "dict[str, int]"
    opening: AbstractSet[str]


def read_series(*, collection: int, language: str, audience: list[str], title: str, url: str, term: Term) -> str:
    """Return the key that documents share if they may be editions of one matter; empty if no word is left.

    Editions of examination regulations may be for other readers each: for those who study by them.
    """
    words = [word for word in WORD.findall(_without_terms(title).casefold()) if word not in FILLERS]
    path = sorted(word for word in LETTERS.findall(_without_terms(readable_address(url))) if word not in PATH_FILLERS)
    if not words and not path:
        return ""
    kinds = [tag for tag in audience if not (term.is_regulations and tag.startswith("regulation"))]
    main = language.split("-", 1)[0]
    how = "regulations" if term.is_regulations else "term"
    host = (urlsplit(url).hostname or "").removeprefix("www.")
    return fingerprint(str(collection), main, *sorted(kinds), how, " ".join(words), host, " ".join(path))


def shared_title(title: str) -> str:
    """Return a title without its term."""
    kept = _without_terms(title)
    return re.sub(r"\s+([,;:.])", r"\1", " ".join(kept.split())).strip(" ,;:.–—-|()/") or title


def make_sketch(*, url: str, text: str) -> Sketch:
    plain = _without_terms(make_plain(MARKER.sub(" ", text[:COMPARED_CHARACTERS])))
    words = [word.casefold() for word in LETTERS.findall(plain)]
    runs = range(max(1, len(words) - SHINGLE_WORDS + 1))
    counts: dict[str, int] = {}
    for word in words:
        counts[word] = counts.get(word, 0) + 1
    return Sketch(
        numbers=tuple(NUMBER.findall(_without_terms(readable_address(url)))),
        shingles=frozenset(hash(tuple(words[place : place + SHINGLE_WORDS])) for place in runs),
        counts=counts,
        opening=frozenset(words[:OPENING_WORDS]),
    )


def are_editions(one: Sketch, other: Sketch) -> bool:
    """Return whether two documents of one series and different terms are editions of one matter.

    They are compared by the share of the shorter one's runs of words that the other one has too (Broder's containment).
    """
    share = len(one.shingles & other.shingles) / min(len(one.shingles), len(other.shingles))
    if one.numbers == other.numbers:
        return share >= LEAST_ALIKE
    return share >= LEAST_ALIKE_ALONE and not _name_others(one, other)


def are_same(one: Sketch, other: Sketch) -> bool:
    """Return whether two documents say the same, such as a page and its PDF."""
    most = max(len(one.shingles), len(other.shingles))
    return len(one.shingles & other.shingles) >= LEAST_SAME * most and not _name_others(one, other)


def _name_others(one: Sketch, other: Sketch) -> bool:
    """Return whether one has a word of its own at its beginning, or repeatedly: it may be about another matter."""
    for own, others in ((one, other), (other, one)):
        alone = own.counts.keys() - others.counts.keys()
        if any(word in own.opening or own.counts[word] > MOST_REPEATED for word in alone):
            return True
    return False


def _without_terms(text: str) -> str:
    for mention in reversed(mentions(text)):
        text = f"{text[: mention.start]} {text[mention.end :]}"
    return text
