"""Statements: the sentences, list items and table rows of pages and FAQs that are compared with each other; pure."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from urllib.parse import unquote

from chat.pipeline.guardrails.addresses import emails, links, phones
from chat.pipeline.verification.facts import Facts, read_facts
from chat.pipeline.verification.units import Unit, split_units
from chat.pipeline.verification.words import WORD, fold, read_words, word_keys

TAG = re.compile(r"</?[a-z]{2,10}\s?/?>", re.IGNORECASE)
#: "1.7 ", "(3) ", "§ 4 " before a sentence, and references to parts of a document.
NUMBERED = re.compile(r"^\s*(?:\(\d{1,2}\)\s+|\(?\d{1,2}(?:\.\d{1,2}){0,3}[.)]?\s+(?=[A-ZÄÖÜ])|§\s?\d+\w?\s)")
INNER_NUMBER = re.compile(
    r"\b(?:[A-Z]\.)\d+(?:\.\d+)*\b|\b\d+\.\d+\.\d+(?:\.\d+)*\b|(?<=[.):•]\s)\d{1,2}\.\d{1,2}\s+(?=[A-ZÄÖÜ])"
)
REFERENCE = re.compile(
    r"\(\d{1,2}\)|(?:§+|\b(?:section|sections|chapter|appendix|page|figure|fig\.|table|step|abschnitt|kapitel|anhang|seite|absatz|abs\.|art\.|nr\.|no\.))"
    r"\s?\d+(?:\.\d+)*[a-z]?\b",
    re.IGNORECASE,
)
#: A clause that only points to another text: its figures and dates are of that text.
POINTER = re.compile(r"(?:\b(?:see|refer to|siehe|vgl\.)\s)[^.;:)]*", re.IGNORECASE)
#: "(PDF, 285 KB)": the size of a file that a page links.
FILE = re.compile(r"\((?:(?:PDF|DOCX?|XLSX?|PPTX?|ZIP)\b[^)]{0,40}|\d+(?:[.,]\d+)?\s?[KMG]i?B)\)", re.IGNORECASE)
#: "kein/keine": one word in two forms.
FORMS = re.compile(r"\b(?P<form>[^\W\d_]{3,})/(?=(?P=form)[^\W\d_]{1,3}\b)")
#: Programs and what they print.
FENCED = re.compile(r"^[ \t]*(?P<fence>```|~~~).*?(?:^[ \t]*(?P=fence)[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
#: Another person's words.
QUOTED = ('"', "“", "„", "«", "»", "‚", "‘")
#: Courses and forms go by such codes: "15-213", "CS 101".
CODE = re.compile(r"\b\d{2}-\d{3}\b|\b[A-Z]{2,5}[ -]?\d{3,4}\b|\b[A-Z]+\d+[A-Z\d]*\b")
#: Commands and programs.
CODED = re.compile(r"[{}\\]|\b[a-z]+_[a-z]+\s=\s|==|-->|\w\(\)|\b\w+=[\w\"]|;\s*$|(?:^|\s)--?[a-z]\w+|</")
LEAST_TERMS, MOST_TERMS = 3, 60
#: "The contribution is €318.40."
LEAST_TERMS_OF_MONEY, MONEY = 1, re.compile(r"[€$£]|\b(?:EUR|USD|euros?|dollars?)\b", re.IGNORECASE)
#: A text that stands on more pages than this is read there only.
COPIES = 3


@dataclass(frozen=True, slots=True)
class Source:
    """One passage: `owner` is the page or FAQ that it is part of; sources of one of the same `groups` are compared.

    `course` has the code and the name of the course whose record the page is made of.
    """

    owner: str
    title: str
    headings: tuple[str, ...]
    text: str
    language: str
    groups: frozenset[int] = frozenset()
    audience: frozenset[str] = frozenset()
    valid_from: date | None = None
    valid_until: date | None = None
    course: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Statement:
    """A unit of a source with the keys of its words; `source` is the place among all sources."""

    source: int
    owner: str
    unit: Unit
    terms: frozenset[str]

    @property
    def own(self) -> Facts:
        return read_facts(comparable(self.unit.text))

    @property
    def whole(self) -> Facts:
        return read_facts(f"{self.unit.context} {self.unit.shown}")


def read_statements(sources: Sequence[Source]) -> list[Statement]:
    """Return the statements of all sources in order; of texts that stand on many pages, the first few."""
    copies: Counter[str] = Counter()
    found = []
    for place, source in enumerate(sources):
        for unit in split_source(source):
            same = unit.text.casefold()
            terms = read_terms(unit.text)
            least = LEAST_TERMS_OF_MONEY if MONEY.search(unit.text) else LEAST_TERMS
            if not least <= len(terms) <= MOST_TERMS or copies[same] >= COPIES:
                continue
            if unit.text.endswith("?") or unit.text.startswith(QUOTED) or CODED.search(unit.text):
                continue
            if "|" in unit.text and not unit.cells:
                continue  # a table that is none
            copies[same] += 1
            found.append(Statement(place, source.owner, unit, terms))
    return found


def plain_title(title: str) -> str:
    """Return a title as words: titles that a file or an address was named by hold escapes."""
    return re.sub(r"[_%]|\.(?:html?|pdf|txt)\b", " ", unquote(title)) if "%" in title or "_" in title else title


def split_source(source: Source) -> Iterator[Unit]:
    """Yield the units of a source without programs and tags."""
    heading = source.headings[-1] if source.headings else ""
    title = ". ".join(dict.fromkeys([plain_title(source.title), *source.headings[:-1]]))
    yield from split_units(TAG.sub("\n\n", FENCED.sub("\n\n", source.text)), title, heading)


@lru_cache(maxsize=8192)
def comparable(text: str) -> str:
    """Return the text without its number, references to other texts and parts, sizes of files, addresses and phone
    numbers."""
    text = FILE.sub(" ", FORMS.sub("", POINTER.sub(" ", text)))
    text = REFERENCE.sub(" ", INNER_NUMBER.sub(" ", NUMBERED.sub("", text)))
    for each in read_addresses(text) | frozenset(phones(text)):
        text = text.replace(each, " ")
    return text


def read_addresses(text: str) -> frozenset[str]:
    """Return the links and e-mail addresses of a text, as they stand there."""
    return frozenset([*(link for link, _address in links(text)), *emails(text)])


def read_terms(text: str) -> frozenset[str]:
    """Return a key for each word of meaning: its meaning if it has one, else its stem."""
    return frozenset(list_terms(text))


def list_terms(text: str) -> list[str]:
    return [key for word in WORD.findall(text) if (key := _term(word))]


@lru_cache(maxsize=65_536)
def _term(word: str) -> str:
    (read,) = read_words(word)[:1] or (None,)
    if read is None or not read.keys:
        return ""
    meanings = sorted(key for key in read.keys if key.startswith("#"))
    return meanings[0] if meanings else min(word_keys(fold(word)))
