"""BM25 over the passages of one collection with Tantivy (Lucene's formula, k1 1.2, b 0.75), in memory.

Words are those of Tantivy's analyzers with Snowball's stemmers and stop words, not those of `core.terms`: the figures
of BM25 are compared with published ones.
"""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from copy import copy
from datetime import date
from typing import NamedTuple

import tantivy

from core.text import nfc
from knowledge.retrieval.scope import read_kind
from knowledge.retrieval.types import Scope
from knowledge.words.abbreviations import Abbreviations, find_definitions
from knowledge.words.vocabulary import Vocabulary

#: Stemmed and without stop words; texts of other languages are only lower-cased.
STEMMERS = {"en": "english", "de": "german"}
OTHER = "other"
FIELDS = (*STEMMERS, OTHER)
WRITER_HEAP_BYTES = 15_000_000
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
    for name in ("language", "audience"):
        schema.add_text_field(name, tokenizer_name="raw", index_option="basic")
    return schema.build()


ANALYZERS: Mapping[str, tantivy.TextAnalyzer] = {field: _make_analyzer(field) for field in FIELDS}
SCHEMA = _make_schema()


class CollectionIndex:
    """The passages of one collection. Changes are seen after `commit`, and are gone after `discard`."""

    def __init__(self) -> None:
        self._index = tantivy.Index(SCHEMA)
        for field, analyzer in ANALYZERS.items():
            self._index.register_tokenizer(field, analyzer)
        self._writer: tantivy.IndexWriter | None = None
        self._searcher = self._index.searcher()
        # Values that documents differ in: a filter that every document passes is not worth its time.
        self._languages: set[str] = set()
        self._kinds: set[str] = set()
        self._any_dates = False
        #: Fields that have words at all.
        self.fields: set[str] = set()
        #: For slips and compounds in questions, by field; the words of deleted texts stay until a restart.
        self.words = {field: Vocabulary() for field in FIELDS}
        self.abbreviations = Abbreviations()

    def freeze(self) -> "CollectionIndex":
        """Return a view that stays as the index is now; it can only be searched."""
        view = copy(self)
        view._searcher = self._index.searcher()
        view._languages, view._kinds, view.fields = set(self._languages), set(self._kinds), set(self.fields)
        return view

    # --- changes ---

    def add(self, row: Row) -> None:
        document = tantivy.Document()
        document.add_unsigned("passage", row.passage)
        document.add_unsigned("document", row.document)
        document.add_unsigned("valid_from", row.valid_from.toordinal() if row.valid_from else FIRST_DAY)
        document.add_unsigned("valid_until", row.valid_until.toordinal() if row.valid_until else LAST_DAY)
        self._any_dates = self._any_dates or bool(row.valid_from or row.valid_until)
        kinds = {read_kind(tag) for tag in row.audience}
        for term in (*row.audience, *kinds):
            document.add_text("audience", term)
        language = row.language.partition("-")[0]
        document.add_text("language", language)
        self._languages.add(language)
        self._kinds |= kinds
        field = language if language in STEMMERS else OTHER
        whole = nfc("\n".join((row.title, *row.headings, row.text)))
        self.fields.add(field)
        self.words[field].add(whole)
        self.abbreviations.add(row.document, find_definitions(whole))
        document.add_text(field, whole)
        self._open().add_document(document)

    def remove(self, document_ids: AbstractSet[int]) -> None:
        # Not by term: tantivy-py takes the number for a signed one and finds nothing.
        gone = tantivy.Query.term_set_query(SCHEMA, "document", list(document_ids))
        if self._searcher.search(gone, limit=1, count=False).hits:
            self._open().delete_documents_by_query(gone)
            for document_id in document_ids:
                self.abbreviations.remove(document_id)

    def commit(self) -> None:
        """Show what was changed; the writer and its threads end, since most collections change rarely."""
        if self._writer is not None:
            writer, self._writer = self._writer, None
            writer.commit()
            writer.wait_merging_threads()
            self._index.reload()
            self._searcher = self._index.searcher()

    def discard(self) -> None:
        if self._writer is not None:
            writer, self._writer = self._writer, None
            writer.rollback()

    def _open(self) -> tantivy.IndexWriter:
        if self._writer is None:
            self._writer = self._index.writer(WRITER_HEAP_BYTES, num_threads=1)
        return self._writer

    # --- search ---

    @property
    def size(self) -> int:
        return int(self._searcher.num_docs)

    def count_passages_with(self, term: Term) -> int:
        return int(self._searcher.doc_freq(*term))

    def search(self, query: tantivy.Query, *, k: int, scope: Scope) -> list[tuple[int, int, float]]:
        """Return (passage id, document id, score) of the `k` best passages in scope, best first."""
        if filters := self._filters(scope):  # without filters Tantivy skips what cannot be among the best
            unscored = [(tantivy.Occur.Must, tantivy.Query.const_score_query(each, 0.0)) for each in filters]
            query = tantivy.Query.boolean_query([*unscored, (tantivy.Occur.Must, query)])
        searcher = self._searcher
        found = searcher.search(query, limit=k, count=False).hits
        addresses = [address for _, address in found]
        passages = searcher.fast_field_values("passage", addresses)
        documents = searcher.fast_field_values("document", addresses)
        return [
            (int(passage or 0), int(document or 0), score)
            for passage, document, (score, _) in zip(passages, documents, found, strict=True)
        ]

    def contents(self) -> set[Entry]:
        """Return all entries of the index."""
        searcher = self._searcher
        if not searcher.num_docs:
            return set()
        every = searcher.search(tantivy.Query.all_query(), limit=searcher.num_docs, count=False).hits
        addresses = [address for _, address in every]
        fields = [searcher.fast_field_values(name, addresses) for name in ENTRY_FIELDS]
        return {Entry(*(int(value or 0) for value in values)) for values in zip(*fields, strict=True)}

    def _filters(self, scope: Scope) -> list[tantivy.Query]:
        filters = []
        if scope.language and self._languages - {scope.language}:
            filters.append(term_query(("language", scope.language), "basic"))
        if self._any_dates:
            filters += _valid_on(scope.on)
        for kind in self._kinds & {read_kind(tag) for tag in scope.audience}:
            others = term_query(("audience", kind), "basic")
            everyone = tantivy.Query.boolean_query(
                [(tantivy.Occur.Must, tantivy.Query.all_query()), (tantivy.Occur.MustNot, others)]
            )
            tags = [term_query(("audience", tag), "basic") for tag in scope.audience if read_kind(tag) == kind]
            filters.append(match_any([everyone, *tags]))
        return filters


def _valid_on(day: date) -> list[tantivy.Query]:
    unsigned, today = tantivy.FieldType.Unsigned, day.toordinal()
    return [
        tantivy.Query.range_query(SCHEMA, "valid_from", unsigned, 0, today),
        tantivy.Query.range_query(SCHEMA, "valid_until", unsigned, today, LAST_DAY),
    ]


def term_query(term: Term, option: str = "freq") -> tantivy.Query:
    return tantivy.Query.term_query(SCHEMA, *term, option)


def match_any(queries: Sequence[tantivy.Query]) -> tantivy.Query:
    return tantivy.Query.boolean_query([(tantivy.Occur.Should, query) for query in queries])


def match_all(queries: Sequence[tantivy.Query]) -> tantivy.Query:
    return tantivy.Query.boolean_query([(tantivy.Occur.Must, query) for query in queries])


def read_terms(text: str, field: str) -> list[str]:
    """Return the terms of a text as they are indexed in a field, each once."""
    return list(dict.fromkeys(ANALYZERS[field].analyze(nfc(text))))
