"""BM25 with Tantivy (Lucene's formula, k1 1.2, b 0.75), one index in each process, in memory.

The index follows the database by change number (`IndexChange`): every search first reads the newest number, one index
lookup, and reads what changed since. So no process answers from an index older than its own question.

Words are those of Tantivy's analyzers with Snowball's stemmers and stop words, not those of `core.terms`: the figures
of BM25 are compared with published ones.
"""

import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from copy import copy
from datetime import date
from typing import Any, NamedTuple

import tantivy

from core.db.cursors import stream_rows
from core.db.prepared import fetch_all
from core.text import nfc
from knowledge.models import IndexChange, Passage
from knowledge.retrieval.scope import read_kind
from knowledge.retrieval.tuning import MOST_TERMS
from knowledge.retrieval.types import Scope
from knowledge.words.spelling import SHORTEST, WORD

#: Stemmed and without stop words; texts of other languages are only lower-cased.
STEMMERS = {"en": "english", "de": "german"}
OTHER = "other"
WRITER_HEAP_BYTES = 15_000_000
LOAD_BATCH = 500
#: Of days as ordinals, for a document without a date.
FIRST_DAY, LAST_DAY = 1, 4_000_000


class Entry(NamedTuple):
    """An entry of the index besides its words; days as ordinals."""

    passage: int
    document: int
    valid_from: int
    valid_until: int


ENTRY_FIELDS = Entry._fields


def _analyzer(language: str) -> tantivy.TextAnalyzer:
    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
    builder = builder.filter(tantivy.Filter.remove_long(64)).filter(tantivy.Filter.lowercase())
    if stemmer := STEMMERS.get(language):
        builder = builder.filter(tantivy.Filter.stopword(stemmer)).filter(tantivy.Filter.stemmer(stemmer))
    return builder.build()


class LexicalIndex:
    """One process's index over the passages that a generation has of all published documents."""

    def __init__(self, generation_id: int) -> None:
        self._generation_id = generation_id
        schema = tantivy.SchemaBuilder()
        self._analyzers = {field: _analyzer(field) for field in (*STEMMERS, OTHER)}
        for field in self._analyzers:
            schema.add_text_field(field, tokenizer_name=field, index_option="freq")
        for name in ("passage", "document"):
            schema.add_unsigned_field(name, indexed=True, fast=True)
        for name in ("collection", "valid_from", "valid_until"):
            schema.add_unsigned_field(name, indexed=True, fast=name != "collection")
        for name in ("language", "audience"):
            schema.add_text_field(name, tokenizer_name="raw", index_option="basic")
        self._schema = schema.build()
        self._index = tantivy.Index(self._schema)
        self._searcher = self._index.searcher()
        for field, analyzer in self._analyzers.items():
            self._index.register_tokenizer(field, analyzer)
        self._writer = self._index.writer(WRITER_HEAP_BYTES, num_threads=1)
        self._lock = threading.Lock()
        self._at = -1
        # Values that documents differ in: a filter that every document passes is not worth its time.
        self._collections: set[int] = set()
        self._languages: set[str] = set()
        self._kinds: set[str] = set()
        self._any_dates = False
        # The words of all texts with their counts, for slips in questions; those of deleted ones stay until a restart.
        self._words: Counter[str] = Counter()

    def follow(self, newest: int | None = None) -> None:
        """Read every change committed so far, or up to `newest` if that was read just now."""
        newest = newest_change() if newest is None else newest
        if newest == self._at:
            return
        with self._lock:
            newest = newest_change()  # another thread may have been faster
            if newest == self._at:
                return
            if newest < self._at:  # another database: a backup was restored
                self._at = -1
            try:
                self._take_in(newest)
            except Exception:
                self._writer.rollback()  # otherwise a part of the changes would be there twice
                raise
            self._at = newest

    def _take_in(self, newest: int) -> None:
        if self._at < 0:
            self._writer.delete_all_documents()
            self._add(Passage.objects.retrievable(self._generation_id))
        else:
            changes = IndexChange.objects.filter(pk__gt=self._at, pk__lte=newest)
            self._replace(set(changes.values_list("document_id", flat=True)))
        self._show()

    def take_in(self, document_id: int) -> None:
        """Read a document anew as this transaction sees it, which may never be committed.

        Only for an index of one's own, never for the one that answers.
        """
        with self._lock:
            self._replace({document_id})
            self._show()

    def as_now(self) -> "LexicalIndex":
        """Return a view that stays as the index is now; it can only be searched."""
        view = copy(self)
        view._searcher = self._index.searcher()
        view._collections, view._languages = set(self._collections), set(self._languages)
        view._kinds = set(self._kinds)
        return view

    def _replace(self, document_ids: AbstractSet[int]) -> None:
        # Not by term: tantivy-py takes the number for a signed one and finds nothing.
        gone = tantivy.Query.term_set_query(self._schema, "document", list(document_ids))
        self._writer.delete_documents_by_query(gone)
        self._add(Passage.objects.retrievable(self._generation_id).filter(document_id__in=document_ids))

    def _show(self) -> None:
        self._writer.commit()
        self._index.reload()
        self._searcher = self._index.searcher()

    def _add(self, passages: Any) -> None:
        rows = passages.order_by().values_list(
            "pk",
            "document_id",
            "document__collection_id",
            "document__language",
            "document__valid_from",
            "document__valid_until",
            "document__audience",
            "document__title",
            "heading_path",
            "text",
        )
        for row in stream_rows(rows, size=LOAD_BATCH):
            pk, document_id, collection_id, language, valid_from, valid_until, audience, title, headings, text = row
            document = tantivy.Document()
            document.add_unsigned("passage", pk)
            document.add_unsigned("document", document_id)
            document.add_unsigned("collection", collection_id)
            document.add_unsigned("valid_from", valid_from.toordinal() if valid_from else FIRST_DAY)
            document.add_unsigned("valid_until", valid_until.toordinal() if valid_until else LAST_DAY)
            self._any_dates = self._any_dates or bool(valid_from or valid_until)
            kinds = {read_kind(tag) for tag in audience}
            for term in (*audience, *kinds):
                document.add_text("audience", term)
            language = language.partition("-")[0]
            document.add_text("language", language)
            self._collections.add(collection_id)
            self._languages.add(language)
            self._kinds |= kinds
            field = language if language in STEMMERS else OTHER
            whole = nfc("\n".join((title, *headings, text)))
            self._words.update(word for word in WORD.findall(whole.lower()) if len(word) >= SHORTEST)
            document.add_text(field, whole)
            self._writer.add_document(document)

    def search(self, text: str, *, k: int, scope: Scope) -> list[tuple[int, int, float]]:
        """Return (passage id, document id, BM25 score) of the `k` best, best first."""
        terms = [
            (tantivy.Occur.Should, self._term(field, term, "freq"))
            for field, analyzer in self._analyzers.items()
            for term in list(dict.fromkeys(analyzer.analyze(nfc(text))))[:MOST_TERMS]
        ]
        if not terms:
            return []
        query = tantivy.Query.boolean_query(terms)
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

    @property
    def words(self) -> Mapping[str, int]:
        """The words of its texts in lower case, with how often each stands there."""
        return self._words

    @property
    def at(self) -> int:
        """Number of the last change read; -1 before the first use."""
        return self._at

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
        if not self._collections <= set(scope.collection_ids):
            filters.append(_match_any([self._term("collection", pk) for pk in scope.collection_ids]))
        if scope.language and self._languages - {scope.language}:
            filters.append(self._term("language", scope.language))
        if self._any_dates:
            filters += self._valid_on(scope.on)
        for kind in self._kinds & {read_kind(tag) for tag in scope.audience}:
            everyone = tantivy.Query.boolean_query(
                [(tantivy.Occur.Must, tantivy.Query.all_query()), (tantivy.Occur.MustNot, self._term("audience", kind))]
            )
            tags = [self._term("audience", tag) for tag in scope.audience if read_kind(tag) == kind]
            filters.append(_match_any([everyone, *tags]))
        return filters

    def _valid_on(self, day: date) -> list[tantivy.Query]:
        unsigned, today = tantivy.FieldType.Unsigned, day.toordinal()
        return [
            tantivy.Query.range_query(self._schema, "valid_from", unsigned, 0, today),
            tantivy.Query.range_query(self._schema, "valid_until", unsigned, today, LAST_DAY),
        ]

    def _term(self, field: str, value: str | int, option: str = "basic") -> tantivy.Query:
        return tantivy.Query.term_query(self._schema, field, value, option)


def _match_any(queries: Sequence[tantivy.Query]) -> tantivy.Query:
    return tantivy.Query.boolean_query([(tantivy.Occur.Should, query) for query in queries])


def newest_change() -> int:
    """Return the number of the newest change, 0 if there is none yet."""
    ((newest,),) = fetch_all("SELECT coalesce(max(id), 0) FROM knowledge_indexchange")
    return int(newest)
