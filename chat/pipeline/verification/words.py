"""Words of a text as keys that can be compared across wordings, English and German; pure.

A key is a rough stem, or the number of a meaning in `synonyms.txt`, so "deadline" and "Frist" share one. German
compounds count as their parts as well: "Bewerbungsfrist" is an application and a deadline.
"""

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

FOLDER = Path(__file__).parent
WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")
FOLDED = str.maketrans({"ä": "a", "ö": "o", "ü": "u", "ß": "ss", "é": "e", "è": "e", "’": "'"})
SUFFIXES = (
    "ierungen", "ierung", "ations", "ation", "ungen", "ments", "lichen", "liche", "keiten", "heiten", "ieren", "innen",
    "ings", "ment", "lich", "keit", "heit", "iert", "isch", "sten", "ung", "ing", "ies", "ied", "ern", "est", "ors",
    "ers", "en", "ed", "es", "em", "er", "ly", "or", "s", "e", "n", "y",
)  # fmt: skip
SHORTEST, LONGEST = 3, 9
#: Words that say nothing of what a sentence is about.
EMPTY = frozenset(
    """
    a an the this that these those it its they them their he she his her him we our us you your yours i my me one ones
    and or but nor so then than as at by for from in into of on onto to up with within about over under out off per via
    is are was were be been being am do does did done have has had having will would shall there here which who whom
    whose what when where while how why if whether also too just even still yet already both either each such other
    another any some all no not can could may might must should only very more most much many own same again further
    because since until before after during between through against yes please need let per etc well right way make
    makes made take takes taken give gives given go goes going come comes came put say says said see set
    thing things case cases namely e.g i.e like example instance e.g. able currently now
    der die das den dem des ein eine einen einem einer eines dies diese dieser dieses diesem diesen es er sie ihn ihm
    ihr ihre ihren ihrem ihrer sein seine seinen seinem seiner wir uns unser unsere man ich mein meine mir mich du dein
    und oder aber sondern denn doch dass ob wenn falls weil da damit so wie als auch noch nur schon sehr mehr am an auf
    aus bei beim bis durch für gegen hinter im in ins mit nach neben ohne seit über um unter vom von vor während wegen
    zu zum zur zwischen ist sind war waren wird werden wurde wurden worden geworden hat haben hatte hatten kann können
    könnte darf dürfen muss müssen soll sollen sollte will wollen würde sei seien nicht kein keine keinen keinem keiner
    dort hier dann dazu dafür davon daran darauf dabei damit daher deshalb also etwa ja nein bitte sich selbst was wer
    wo wann welche welcher welches welchem welchen jeder jede jedes jeden jedem alle allen aller alles einige manche
    machen macht gemacht gibt geben gegeben geht gehen kommt kommen lassen lässt stehen steht beispiel beispielsweise
    jeweils derzeit sowie zwar bzw beziehungsweise usw ab
    """.translate(FOLDED).split()
)


@dataclass(frozen=True, slots=True)
class Word:
    """A word with its place in the text, and the keys under which it is found in another text."""

    text: str
    start: int
    end: int
    keys: frozenset[str]
    is_content: bool

    @property
    def is_capitalised(self) -> bool:
        return self.text[:1].isupper()


def read_words(text: str) -> list[Word]:
    """Return the words in order; those without meaning of their own have no keys."""
    return [Word(match[0], match.start(), match.end(), *_read(match[0])) for match in WORD.finditer(text)]


@lru_cache(maxsize=16_384)
def _read(word: str) -> tuple[frozenset[str], bool]:
    plain = fold(word)
    if plain in EMPTY or (len(plain) < 2 and not plain.isdigit()) or plain[0].isdigit() or len(word) > 80:
        return frozenset(), False
    return word_keys(plain), True


def fold(word: str) -> str:
    """Return a word in small letters without marks, and without a genitive's ending."""
    return word.lower().translate(FOLDED).removesuffix("'s").rstrip("'.")


@lru_cache(maxsize=16_384)
def word_keys(plain: str) -> frozenset[str]:
    """Return a folded word's stem and meanings, and those of its parts."""
    found = {stem(plain)} | _meanings(plain)
    if "-" in plain:
        for part in plain.split("-"):
            if len(part) > 2 and part not in EMPTY:
                found |= {stem(part)} | _meanings(part)
    elif len(plain) > 9:
        found |= _compound(plain)
    return frozenset(found)


def stem(plain: str) -> str:
    """Return a folded word without its endings, at most LONGEST letters."""
    for suffix in SUFFIXES:
        if plain.endswith(suffix) and len(plain) - len(suffix) >= SHORTEST + (len(suffix) < 2):
            plain = plain[: -len(suffix)]
            break
    if len(plain) > 4 and plain[-1] == plain[-2]:
        plain = plain[:-1]
    return plain[:LONGEST]


def _meanings(plain: str) -> set[str]:
    words, stems = synonyms()
    return words.get(plain) or stems.get(stem(plain)) or set()


def _compound(plain: str) -> set[str]:
    """Return the meanings of a German compound's first and last part."""
    words, _ = synonyms()
    found: set[str] = set()
    for length in range(len(plain) - 4, 3, -1):
        if (ids := words.get(plain[-length:])) and length >= 4:
            found |= ids
            break
    for length in range(len(plain) - 3, 4, -1):
        head = plain[:length]
        if ids := words.get(head) or words.get(head.removesuffix("s")):
            found |= ids
            break
    return found


@cache
def synonyms() -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    """Return the meanings by word and by stem."""
    words: dict[str, set[str]] = {}
    stems: dict[str, set[str]] = {}
    for number, line in enumerate(read_list("synonyms.txt")):
        for word in line.split():
            plain = fold(word)
            if "_" not in plain:
                words.setdefault(plain, set()).add(f"#{number}")
                if len(plain) > 4:
                    stems.setdefault(stem(plain), set()).add(f"#{number}")
    return words, stems


@cache
def opposites() -> dict[str, str]:
    """Return, for every word that says the contrary of another, that other's name with the word's sign.

    "+accept" for "accepted", "-accept" for "rejected".
    """
    found: dict[str, str] = {}
    for line in read_list("opposites.txt"):
        ahead, _, contrary = line.partition(":")
        name = ahead.split()[0]
        for sign, side in (("+", ahead), ("-", contrary)):
            for word in side.split():
                found.setdefault(fold(word), sign + name)
    return found


@cache
def alternatives() -> list[list[frozenset[str]]]:
    """Return groups of things that exclude each other, each thing as its keys."""
    return [[word_keys(fold(word)) for word in line.split()] for line in read_list("alternatives.txt")]


def read_list(name: str) -> list[str]:
    lines = (FOLDER / name).read_text("utf-8").splitlines()
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]
