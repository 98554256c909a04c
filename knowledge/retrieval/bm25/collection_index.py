"""BM25 over the passages of one collection with Tantivy (Lucene's formula, k1 1.2, b 0.75)."""

from collections import Counter
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from datetime import date
from pathlib import Path

import tantivy

from knowledge.retrieval.bm25.schema import (
    ALIKE,
    ANALYZERS,
    DATED,
    DEFINITIONS,
    ENTRY_FIELDS,
    FIELD,
    LAST_DAY,
    SCHEMA,
    SEPARATOR,
    TRAITS,
    WORDS,
    Entry,
    Row,
    Term,
    alike_key,
    make_entry,
)
from knowledge.retrieval.scope import read_kind
from knowledge.retrieval.types import Scope
from knowledge.words.abbreviations import Abbreviations

WRITER_HEAP_BYTES = 50_000_000


class IndexedWords:
    """The words of a collection's texts in one field. Those of deleted texts stay until Tantivy merges."""

    def __init__(self, searcher: tantivy.Searcher, field: str) -> None:
        self._searcher, self._words, self._alike = searcher, WORDS[field], ALIKE[field]

    def count(self, word: str) -> int:
        return int(self._searcher.doc_freq(self._words, word))

    def alike(self, first: str, length: int) -> list[str]:
        """Return the words that begin with this letter and have so many."""
        prefix = alike_key(first, length)
        return [term.removeprefix(prefix) for term, _count in self._searcher.terms_with_prefix(self._alike, prefix)]


class CollectionIndex:
    """The passages of one collection, as they were when it was last opened, reloaded or committed.

    In a folder, processes share it: they hold no copy, only one may change it at a time, and the others see a change
    after `reload`. Changes are gone after `discard`. Raises ValueError or OSError where the folder cannot be used.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        if folder:
            folder.mkdir(parents=True, exist_ok=True)
        self._index = self._open()
        self._writer: tantivy.IndexWriter | None = None
        self._listed: Sequence[tuple[str, str]] = ()
        self.reload()

    def reload(self) -> None:
        """Show what was committed."""
        self._index.reload()
        self._searcher = self._index.searcher()
        traits = [trait for trait, _count in self._searcher.terms_with_prefix(TRAITS, "")]
        named = [trait.partition(":") for trait in traits]
        self._languages = {value for name, _, value in named if name == "language"}
        self._kinds = {value for name, _, value in named if name == "audience"}
        self._any_dates = DATED in traits
        #: Fields that have words at all.
        self.fields = {value for name, _, value in named if name == FIELD}
        #: For slips and compounds in questions, by field.
        self.words = {field: IndexedWords(self._searcher, field) for field in WORDS}
        self._read_abbreviations()

    def list_abbreviations(self, listed: Sequence[tuple[str, str]]) -> None:
        """Add the (short form, long form) of those that staff list to those that texts explain."""
        if list(listed) != list(self._listed):
            self._listed = listed
            self._read_abbreviations()

    def _read_abbreviations(self) -> None:
        # With a query only passages that are still there count.
        found = self._searcher.terms_with_prefix(DEFINITIONS, "", filter_query=tantivy.Query.all_query())
        counts = Counter(self._listed)
        for term, count in found:
            short, _, long = term.partition(SEPARATOR)
            counts[short, long] += count
        self.abbreviations = Abbreviations(counts)

    # --- changes ---

    def add(self, row: Row) -> None:
        self._write().add_document(make_entry(row))

    def remove(self, document_ids: AbstractSet[int]) -> None:
        # Not by term: tantivy-py takes the number for a signed one and finds nothing.
        gone = tantivy.Query.term_set_query(SCHEMA, "document", list(document_ids))
        if self._searcher.search(gone, limit=1, count=False).hits:
            self._write().delete_documents_by_query(gone)

    def commit(self) -> bool:
        """Show what was changed, and return whether anything was.

        The writer and its threads end, since most collections change rarely.
        """
        if self._writer is None:
            return False
        writer, self._writer = self._writer, None
        writer.commit()
        writer.wait_merging_threads()
        self.reload()
        return True

    def discard(self) -> None:
        if self._writer is not None:
            writer, self._writer = self._writer, None
            writer.rollback()

    def _open(self) -> tantivy.Index:
        index = tantivy.Index(SCHEMA, path=str(self._folder)) if self._folder else tantivy.Index(SCHEMA)
        index.config_reader("Manual", 1)
        for field, analyzer in ANALYZERS.items():
            index.register_tokenizer(field, analyzer)
        return index

    def _write(self) -> tantivy.IndexWriter:
        if self._writer is None:
            # Opened anew, so that the writer knows the files that another process wrote and removes them in time.
            index = self._open() if self._folder else self._index
            self._writer = index.writer(WRITER_HEAP_BYTES, num_threads=1)
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
