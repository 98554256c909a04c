"""A generation's lexical index: one `CollectionIndex` a collection.

It follows the database by change number (`IndexChange`): every search first reads the newest number, one index lookup,
and reads what changed since. So no process answers from an index older than its own question.

A word is as rare as it is in the collections that are searched, whatever others hold. The length of a passage is
compared with the mean of its own collection.
"""

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from copy import copy

from django.db.models import QuerySet

from core.db.cursors import stream_rows
from core.db.prepared import fetch_all
from core.db.reading import is_behind
from knowledge.models import Abbreviation, IndexChange, Passage
from knowledge.retrieval.bm25.collection_index import CollectionIndex
from knowledge.retrieval.bm25.schema import FIELDS, Entry, Row, read_terms
from knowledge.retrieval.bm25.weighing import read_clauses, weigh
from knowledge.retrieval.types import Scope
from knowledge.words.question import Pages
from knowledge.words.readings import Reading
from knowledge.words.vocabulary import Words

LOAD_BATCH = 500
COLUMNS = (
    *("pk", "document_id", "document__collection_id", "document__language", "document__valid_from"),
    *("document__valid_until", "document__audience", "document__title", "heading_path", "text"),
)


class LexicalIndex:
    """An index of one process, in memory, over the passages that a generation has of all published documents."""

    def __init__(self, generation_id: int) -> None:
        self._generation_id = generation_id
        self._collections: dict[int, CollectionIndex] = {}
        self._lock = threading.Lock()
        self._at = -1

    def follow(self, newest: int | None = None) -> None:
        """Read every change committed so far, or up to `newest` if that was read just now."""
        newest = newest_change() if newest is None else newest
        if self._has_read(newest):
            return
        with self._lock:
            newest = newest_change()  # another thread may have been faster
            if not self._has_read(newest):
                self._at = self._catch_up(newest)

    def _has_read(self, newest: int) -> bool:
        """Return whether there is nothing to read up to this change; a replica may not have got yet what was read."""
        return newest == self._at or (newest < self._at and is_behind(lambda: newest_change() >= self._at))

    def _catch_up(self, newest: int) -> int:
        """Read what changed up to `newest`, and return the number of the last change read."""
        if self._at < 0 or newest < self._at:  # or another database: a backup was restored
            self._collections = self._build()
        else:
            collections = dict(self._collections)
            self._replace(changed_documents(self._at, newest), collections)
            self._collections = collections
        return newest

    def take_in(self, document_id: int) -> None:
        """Read a document anew as this transaction sees it, which may never be committed.

        Only for an index of one's own, never for one that answers.
        """
        with self._lock:
            collections = dict(self._collections)
            self._replace({document_id}, collections)
            self._collections = collections

    def copied(self) -> "LexicalIndex":
        """Return an index of one's own, up to date: what is changed in it nobody else sees."""
        own = LexicalIndex(self._generation_id)
        own.follow()
        return own

    def take_over(self, collections: dict[int, CollectionIndex], at: int) -> None:
        """Begin with indexes that hold every change up to `at`."""
        list_abbreviations(collections)
        self._collections, self._at = collections, at

    def as_now(self) -> "LexicalIndex":
        """Return a view that stays as the index is now; it can only be searched."""
        view = copy(self)
        view._collections = {pk: copy(index) for pk, index in self._collections.items()}
        return view

    def _build(self) -> dict[int, CollectionIndex]:
        """Return the indexes of all collections, made anew."""
        built: dict[int, CollectionIndex] = {}
        self._add(Passage.objects.retrievable(self._generation_id), built)
        for index in built.values():
            index.commit()
        list_abbreviations(built)
        return built

    def _replace(self, document_ids: AbstractSet[int], collections: dict[int, CollectionIndex]) -> set[int]:
        """Read some documents anew, and return the collections whose indexes changed."""
        passages = Passage.objects.retrievable(self._generation_id).filter(document_id__in=document_ids)
        try:
            for index in collections.values():
                index.remove(document_ids)
            self._add(passages, collections)
        except Exception:
            for index in collections.values():
                index.discard()  # otherwise a part of the changes would be there twice
            raise
        changed = {pk for pk, index in collections.items() if index.commit()}
        list_abbreviations(collections)
        return changed

    def _add(self, passages: QuerySet[Passage], collections: dict[int, CollectionIndex]) -> None:
        for values in stream_rows(passages.order_by().values_list(*COLUMNS), size=LOAD_BATCH):
            row = Row(*values)
            if row.collection not in collections:
                collections[row.collection] = self._make(row.collection)
            collections[row.collection].add(row)

    def _make(self, collection_id: int) -> CollectionIndex:
        return CollectionIndex()

    def search(
        self, text: str, *, k: int, scope: Scope, readings: Sequence[Reading] = ()
    ) -> list[tuple[int, int, float]]:
        """Return (passage id, document id, BM25 score) of the `k` best, best first.

        A word that was read in other ways counts as the one of them that weighs most in a passage.
        """
        searched = self._searched(scope)
        clauses = read_clauses(text, readings, fields=_fields(searched))
        found = []
        for index, query in weigh(clauses, searched):
            found += index.search(query, k=k, scope=scope)
        # Equal scores in order of id: indexes get passages in different orders.
        return sorted(found, key=lambda hit: (-hit[2], hit[0]))[:k]

    def pages(self, scope: Scope, *, is_known: Callable[[str], bool]) -> Pages:
        """Return what is known of the words of the collections in scope."""
        searched = self._searched(scope)
        fields = _fields(searched)

        def has(text: str) -> bool:
            return any(
                (terms := read_terms(text, field))
                and all(any(index.count_passages_with((field, term)) for index in searched) for term in terms)
                for field in fields
            )

        return Pages(
            words=Words([index.words[field] for index in searched for field in FIELDS if field in index.fields]),
            german=Words([index.words["de"] for index in searched if "de" in index.fields]),
            abbreviations=[index.abbreviations for index in searched],
            has=has,
            is_known=is_known,
        )

    @property
    def at(self) -> int:
        """Number of the last change read; -1 before the first use."""
        return self._at

    def contents(self) -> set[Entry]:
        """Return all entries of the index."""
        return {entry for index in self._collections.values() for entry in index.contents()}

    def _searched(self, scope: Scope) -> list[CollectionIndex]:
        collections = self._collections
        return [collections[pk] for pk in sorted(set(scope.collection_ids)) if pk in collections]


def list_abbreviations(collections: Mapping[int, CollectionIndex]) -> None:
    """Read the abbreviations that staff list."""
    listed: dict[int, list[tuple[str, str]]] = {}
    rows: Iterable[tuple[int, str, str]] = Abbreviation.objects.order_by("pk").values_list(
        "collection_id", "short", "long"
    )
    for collection, short, long in rows:
        listed.setdefault(collection, []).append((short, long))
    for pk, index in collections.items():
        index.list_abbreviations(listed.get(pk, []))


def _fields(searched: Sequence[CollectionIndex]) -> list[str]:
    return [field for field in FIELDS if any(field in index.fields for index in searched)]


def changed_documents(after: int, newest: int) -> set[int]:
    """Return the documents that changed after one change, up to another."""
    changes = IndexChange.objects.filter(pk__gt=after, pk__lte=newest)
    return set(changes.values_list("document_id", flat=True))


def newest_change() -> int:
    """Return the number of the newest change, 0 if there is none yet."""
    ((newest,),) = fetch_all("SELECT coalesce(max(id), 0) FROM knowledge_indexchange")
    return int(newest)
