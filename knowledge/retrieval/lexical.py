"""BM25 with Tantivy (Lucene's formula, k1 1.2, b 0.75), one index in each process, in memory.

The index follows the database by change number (`IndexChange`): every search first reads the newest number, one
index lookup, and takes in what changed since. So no process answers from an index older than its own question.
"""

import threading
from collections.abc import Iterable
from functools import cache
from typing import Any

import tantivy

from knowledge.models import IndexChange, Passage
from knowledge.prepared import fetch_all
from knowledge.retrieval.contracts import Hit, Origin, Query, Scope

#: Stemmed and without stop words; texts of other languages are only lower-cased.
STEMMERS = {"en": "english", "de": "german"}
OTHER = "other"
#: Rarely is a question longer; a pasted page would cost time and mean nothing.
MAX_TERMS = 64
WRITER_HEAP_BYTES = 15_000_000
LOAD_BATCH = 500


def _analyzer(language: str) -> tantivy.TextAnalyzer:
    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
    builder = builder.filter(tantivy.Filter.remove_long(64)).filter(tantivy.Filter.lowercase())
    if stemmer := STEMMERS.get(language):
        builder = builder.filter(tantivy.Filter.stopword(stemmer)).filter(tantivy.Filter.stemmer(stemmer))
    return builder.build()


class LexicalIndex:
    """One process's index over the passages of all published documents."""

    def __init__(self) -> None:
        schema = tantivy.SchemaBuilder()
        self._analyzers = {field: _analyzer(field) for field in (*STEMMERS, OTHER)}
        for field in self._analyzers:
            schema.add_text_field(field, tokenizer_name=field, index_option="freq")
        for name in ("passage", "document"):
            schema.add_unsigned_field(name, indexed=True, fast=True)
        schema.add_unsigned_field("collection", indexed=True)
        self._schema = schema.build()
        self._index = tantivy.Index(self._schema)
        for field, analyzer in self._analyzers.items():
            self._index.register_tokenizer(field, analyzer)
        self._writer = self._index.writer(WRITER_HEAP_BYTES, num_threads=1)
        self._lock = threading.Lock()
        self._at = -1
        self._collections: set[int] = set()

    def follow(self) -> None:
        """Takes in every change committed so far."""
        newest = newest_change()
        if newest == self._at:
            return
        with self._lock:
            newest = newest_change()  # another thread may have been faster
            if newest == self._at:
                return
            if newest < self._at:  # another database: a backup was restored
                self._writer.delete_all_documents()
                self._at = -1
            if self._at < 0:
                self._add(Passage.objects.retrievable())
            else:
                changes = IndexChange.objects.filter(pk__gt=self._at, pk__lte=newest)
                changed = set(changes.values_list("document_id", flat=True))
                # Not by term: tantivy-py takes the number for a signed one and finds nothing.
                gone = tantivy.Query.term_set_query(self._schema, "document", list(changed))
                self._writer.delete_documents_by_query(gone)
                self._add(Passage.objects.retrievable().filter(document_id__in=changed))
            self._writer.commit()
            self._index.reload()
            self._at = newest

    def _add(self, passages: Any) -> None:
        rows = passages.order_by().values_list(
            "pk",
            "document_id",
            "document__collection_id",
            "document__language",
            "document__title",
            "heading_path",
            "text",
        )
        for pk, document_id, collection_id, language, title, headings, text in rows.iterator(chunk_size=LOAD_BATCH):
            document = tantivy.Document()
            document.add_unsigned("passage", pk)
            document.add_unsigned("document", document_id)
            document.add_unsigned("collection", collection_id)
            self._collections.add(collection_id)
            field = language[:2] if language[:2] in STEMMERS else OTHER
            document.add_text(field, "\n".join((title, *headings, text)))
            self._writer.add_document(document)

    def search(self, text: str, *, k: int, collection_ids: Iterable[int]) -> list[tuple[int, int, float]]:
        """(passage id, document id, BM25 score) of the `k` best, best first."""
        terms = [
            (tantivy.Occur.Should, tantivy.Query.term_query(self._schema, field, term, "freq"))
            for field, analyzer in self._analyzers.items()
            for term in list(dict.fromkeys(analyzer.analyze(text)))[:MAX_TERMS]
        ]
        if not terms:
            return []
        query = tantivy.Query.boolean_query(terms)
        wanted = set(collection_ids)
        if not self._collections <= wanted:  # without a filter Tantivy skips what cannot be among the best
            in_scope = tantivy.Query.boolean_query(
                [
                    (tantivy.Occur.Should, tantivy.Query.term_query(self._schema, "collection", collection))
                    for collection in wanted
                ]
            )
            query = tantivy.Query.boolean_query(
                [(tantivy.Occur.Must, tantivy.Query.const_score_query(in_scope, 0.0)), (tantivy.Occur.Must, query)]
            )
        searcher = self._index.searcher()
        found = searcher.search(query, limit=k, count=False).hits
        addresses = [address for _, address in found]
        passages = searcher.fast_field_values("passage", addresses)
        documents = searcher.fast_field_values("document", addresses)
        return [
            (int(passage or 0), int(document or 0), score)
            for passage, document, (score, _) in zip(passages, documents, found, strict=True)
        ]


def newest_change() -> int:
    """The number of the newest change, 0 where there is none yet."""
    ((newest,),) = fetch_all("SELECT coalesce(max(id), 0) FROM knowledge_indexchange")
    return int(newest)


@cache
def get_index() -> LexicalIndex:
    """This process's index; empty until it first follows."""
    return LexicalIndex()


class LexicalRetriever:
    origin = Origin.LEXICAL

    def retrieve(self, query: Query, *, k: int, scope: Scope) -> list[Hit]:
        index = get_index()
        index.follow()
        found = index.search(query.text, k=k, collection_ids=scope.collection_ids)
        return [
            Hit(passage, document, rank, score, self.origin)
            for rank, (passage, document, score) in enumerate(found, start=1)
        ]
