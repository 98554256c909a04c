"""What a collection's index holds of a passage, and how its words are cut.

Words are those of Tantivy's analyzers with Snowball's stemmers and stop words, not those of `core.terms`: the figures
of BM25 are compared with published ones.
"""

from collections.abc import Mapping, Sequence
from datetime import date
from importlib.metadata import version
from typing import NamedTuple

import tantivy

from core.hashing import fingerprint
from core.text import nfc
from knowledge.retrieval.scope import read_kind
from knowledge.words.abbreviations import find_definitions
from knowledge.words.vocabulary import read_words

#: Stemmed and without stop words; texts of other languages are only lower-cased.
STEMMERS = {"en": "english", "de": "german"}
OTHER = "other"
FIELDS = (*STEMMERS, OTHER)
#: The whole words of each field's texts, by their field: for slips and compounds in questions.
WORDS = {field: f"{field}_words" for field in FIELDS}
#: The same words by first letter and length, so that a slip is compared with few of them.
ALIKE = {field: f"{field}_alike" for field in FIELDS}
#: Abbreviations that passages explain: short form, SEPARATOR, long form.
DEFINITIONS, SEPARATOR = "definitions", "\t"
#: What filters may look at: a filter that every passage passes is not worth its time.
TRAITS, DATED, FIELD = "traits", "dated", "field"
#: Of days as ordinals, for a document without a date.
FIRST_DAY, LAST_DAY = 1, 4_000_000


class Entry(NamedTuple):
    """An entry of the index besides its words; days as ordinals."""

    passage: int
    document: int
    valid_from: int
    valid_until: int


ENTRY_FIELDS = Entry._fields


class Row(NamedTuple):
    """A passage as the database holds it."""

    passage: int
    document: int
    collection: int
    language: str
    valid_from: date | None
    valid_until: date | None
    audience: Sequence[str]
    title: str
    headings: Sequence[str]
    text: str


#: A term as an analyzer makes it, and the field that has it.
Term = tuple[str, str]


def _make_analyzer(language: str) -> tantivy.TextAnalyzer:
    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
    builder = builder.filter(tantivy.Filter.remove_long(64)).filter(tantivy.Filter.lowercase())
    if stemmer := STEMMERS.get(language):
        builder = builder.filter(tantivy.Filter.stopword(stemmer)).filter(tantivy.Filter.stemmer(stemmer))
    return builder.build()


def _make_schema() -> tantivy.Schema:
    schema = tantivy.SchemaBuilder()
    for field in FIELDS:
        schema.add_text_field(field, tokenizer_name=field, index_option="freq")
    for name in ENTRY_FIELDS:
        schema.add_unsigned_field(name, indexed=True, fast=True)
    for name in ("language", "audience", DEFINITIONS, TRAITS):
        schema.add_text_field(name, tokenizer_name="raw", index_option="basic")
    for name in (*WORDS.values(), *ALIKE.values()):
        schema.add_text_field(name, tokenizer_name="whitespace", index_option="basic")
    return schema.build()


ANALYZERS: Mapping[str, tantivy.TextAnalyzer] = {field: _make_analyzer(field) for field in FIELDS}
SCHEMA = _make_schema()
#: Changes with what an index holds; raise the number when `make_entry` or a function that it calls changes.
RECIPE = fingerprint("1", version("tantivy"))[:8]


def make_entry(row: Row) -> tantivy.Document:
    """Return what the index holds of a passage."""
    entry = tantivy.Document()
    entry.add_unsigned("passage", row.passage)
    entry.add_unsigned("document", row.document)
    entry.add_unsigned("valid_from", row.valid_from.toordinal() if row.valid_from else FIRST_DAY)
    entry.add_unsigned("valid_until", row.valid_until.toordinal() if row.valid_until else LAST_DAY)
    kinds = {read_kind(tag) for tag in row.audience}
    for term in (*row.audience, *kinds):
        entry.add_text("audience", term)
    language = row.language.partition("-")[0]
    entry.add_text("language", language)
    field = language if language in STEMMERS else OTHER
    whole = nfc("\n".join((row.title, *row.headings, row.text)))
    entry.add_text(field, whole)
    words = read_words(whole)
    entry.add_text(WORDS[field], " ".join(words))
    entry.add_text(ALIKE[field], " ".join(f"{alike_key(word[0], len(word))}{word}" for word in words))
    for short, long in dict.fromkeys(find_definitions(whole)):
        entry.add_text(DEFINITIONS, f"{short}{SEPARATOR}{long}")
    traits = [f"language:{language}", f"{FIELD}:{field}", *(f"audience:{kind}" for kind in kinds)]
    for trait in (*traits, DATED) if row.valid_from or row.valid_until else traits:
        entry.add_text(TRAITS, trait)
    return entry


def alike_key(first: str, length: int) -> str:
    return f"{first}{length:02}"


def read_terms(text: str, field: str) -> list[str]:
    """Return the terms of a text as they are indexed in a field, each once."""
    return list(dict.fromkeys(ANALYZERS[field].analyze(nfc(text))))
