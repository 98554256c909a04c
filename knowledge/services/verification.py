"""Verification of an index: everything is computed anew and compared with what is stored.

Read-only, and true of one moment: call it inside `one_moment`.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

import numpy as np
from django.db import connection, transaction
from django.db.models import Model, QuerySet

from core.hashing import fingerprint
from core.inference.embeddings import Embedder
from knowledge.chunking.sentences import in_context, sentences, spoken
from knowledge.indexing.documents import cut_passages
from knowledge.indexing.flags import cleared_hashes, is_withheld
from knowledge.indexing.generations import INDEXED_TABLES, load_embedder
from knowledge.models import Document, Generation, Granularity, Passage, PropositionSet, Unit
from knowledge.retrieval.bm25.index import LexicalIndex
from knowledge.retrieval.bm25.schema import FIRST_DAY, LAST_DAY, Entry
from knowledge.retrieval.live_index import lexical_index

#: Faults of a part that are listed; the others are counted.
NAMED = 5
#: Vectors made anew; on other hardware, or in batches of another size, a model rounds differently.
SAMPLE, SAME_COSINE = 64, 0.999
BATCH = 64
UNIT_LENGTH = 0.01

RowT = TypeVar("RowT", bound=Model)


class Embedded(Protocol):
    @property
    def pk(self) -> Any: ...

    @property
    def embedding(self) -> Any: ...


@dataclass(slots=True)
class Part:
    """One part of the index: how much of it was compared, and its faults."""

    name: str
    checked: int = 0
    wrong: int = 0
    faults: list[str] = field(default_factory=list)

    def report(self, fault: str) -> None:
        self.wrong += 1
        if len(self.faults) < NAMED:
            self.faults.append(fault)


@contextmanager
def one_moment() -> Iterator[None]:
    """Open a read-only transaction that sees the database as it is now; not inside another one."""
    with transaction.atomic(durable=True):
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield


def verify(
    generation: Generation, *, every_vector: bool = False, progress: Callable[[int, int], None] | None = None
) -> list[Part]:
    """Verify all parts of one generation.

    `every_vector` embeds all passages, sentences and propositions again, which takes as long as indexing them; else
    SAMPLE of each. Raises EmbeddingUnavailable.
    """
    embedder = load_embedder(generation)
    documents, passages, units = Part("documents"), Part("passages"), Part("sentences and propositions")
    up_to_date = set(Document.objects.in_index(generation.pk).values_list("pk", flat=True))
    every = list(Document.objects.order_by("pk").values_list("pk", flat=True))
    for document in _documents(every):
        documents.checked += 1
        if progress:
            progress(documents.checked, len(every))
        if document.content_hash != fingerprint(document.title, document.text):
            documents.report(f"document {document.pk}: its content is not what its hash says")
        if document.pk not in up_to_date:
            documents.report(f"document {document.pk}: not indexed since it was last changed")
            continue
        _compare_passages(document, generation, embedder, passages)
        _compare_units(document, generation, units)
    size = None if every_vector else SAMPLE
    return [
        documents,
        passages,
        units,
        _verify_vectors(generation, embedder, size),
        _verify_vector_indexes(generation),
        verify_lexical(generation),
    ]


def _documents(every: list[int]) -> Iterator[Document]:
    """Yield documents, few at once: behind a pooler `iterator` would hold all of them."""
    documents = Document.objects.select_related("collection").order_by("pk")
    for start in range(0, len(every), BATCH):
        yield from documents.filter(pk__in=every[start : start + BATCH])


def _compare_passages(document: Document, generation: Generation, embedder: Embedder, part: Part) -> None:
    rows = document.passages.filter(generation=generation).order_by("position")
    cleared = cleared_hashes(document)
    there = rows.values_list("position", "heading_path", "text", "page", "input_hash", "flags", "is_withheld")
    wanted = [
        (
            *(each.position, list(each.heading_path), each.text, each.page, each.input_hash),
            *(each.flag_hashes, is_withheld(each.flag_hashes, cleared)),
        )
        for each in cut_passages(document, generation, embedder)
    ]
    part.checked += len(wanted)
    if list(there) != wanted:
        part.report(f"document {document.pk}: its passages are not what it would be cut into")


def _compare_units(document: Document, generation: Generation, part: Part) -> None:
    granularities = document.collection.granularities
    rows = Unit.objects.filter(passage__document=document, passage__generation=generation)
    there = set(rows.values_list("passage", "granularity", "position", "text", "generation"))
    wanted = set()
    if granularities:
        passages = list(document.passages.filter(generation=generation).defer("embedding"))
        hashes = [passage.input_hash for passage in passages]
        said = dict(PropositionSet.objects.filter(input_hash__in=hashes).values_list("input_hash", "propositions"))
        for passage in passages:
            texts = {
                Granularity.SENTENCE: [each.text for each in sentences(passage.text, passage.heading_path)],
                Granularity.PROPOSITION: said.get(passage.input_hash, []),
            }
            wanted |= {
                (passage.pk, kind.value, position, text, generation.pk)
                for kind in texts
                if kind in granularities
                for position, text in enumerate(texts[kind])
            }
    part.checked += len(wanted)
    if there != wanted:
        part.report(f"document {document.pk}: {len(there ^ wanted)} sentences or propositions too few or too many")


# --- vectors ---


def _verify_vectors(generation: Generation, embedder: Embedder, size: int | None) -> Part:
    part = Part("vectors")
    for model in (Passage, Unit):
        check_shapes(part, model._meta.db_table, generation)
    passages = Passage.objects.filter(generation=generation).select_related("document")
    for some_passages in sample_rows(passages, size):
        texts = [in_context(each.document.title, each.heading_path, each.text) for each in some_passages]
        compare_vectors(part, "passage", some_passages, texts, embedder.embed)
    units = Unit.objects.filter(generation=generation).select_related("passage__document")
    for some_units in sample_rows(units, size):
        texts = [
            in_context(each.passage.document.title, each.passage.heading_path, spoken(each.text)) for each in some_units
        ]
        compare_vectors(part, "unit", some_units, texts, embedder.embed)
    return part


def sample_rows(rows: QuerySet[RowT], size: int | None) -> Iterator[list[RowT]]:
    """Yield `size` random rows, or all, few at once: behind a pooler `iterator` would hold all of them."""
    chosen = list(rows.order_by("?").values_list("pk", flat=True)[:size])
    for start in range(0, len(chosen), BATCH):
        yield list(rows.filter(pk__in=chosen[start : start + BATCH]))


def check_shapes(part: Part, table: str, generation: Generation) -> None:
    """Check that every vector of the generation in this table has the model's length, and is a unit vector."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT id, vector_dims(embedding), l2_norm(embedding) FROM {table} WHERE generation_id = %s"  # noqa: S608
            " AND (vector_dims(embedding) <> %s OR NOT l2_norm(embedding) BETWEEN %s AND %s)",
            [generation.pk, generation.dimensions, 1 - UNIT_LENGTH, 1 + UNIT_LENGTH],
        )
        for pk, dimensions, norm in cursor.fetchall():
            part.report(f"{table} {pk}: a vector of {dimensions} numbers and of the length {norm:.3f}")
        cursor.execute(f"SELECT count(*) FROM {table} WHERE generation_id = %s", [generation.pk])  # noqa: S608
        part.checked += cursor.fetchone()[0]


def compare_vectors(
    part: Part,
    what: str,
    rows: Sequence[Embedded],
    texts: Sequence[str],
    embed: Callable[[Sequence[str]], "np.ndarray[tuple[int, ...], np.dtype[np.float32]]"],
) -> None:
    """Check that each row has the vector that `embed` gives its text; there is at least one row."""
    for row, new in zip(rows, embed(texts), strict=True):
        old = row.embedding
        if len(new) != len(old) or float(np.dot(new, old)) < SAME_COSINE:
            part.report(f"{what} {row.pk}: its vector is of another text")


def _verify_vector_indexes(generation: Generation) -> Part:
    part = Part("vector indexes")
    with connection.cursor() as cursor:
        for table in INDEXED_TABLES:
            part.checked += 1
            cursor.execute(
                "SELECT bool_or(indisvalid) FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid"
                " WHERE indrelid = to_regclass(%s) AND relname = %s",
                [table, f"{table}_hnsw_{generation.pk}"],
            )
            if not cursor.fetchone()[0]:
                part.report(f"{table}: its HNSW index is missing or was never finished")
    return part


# --- the lexical index ---


def verify_lexical(generation: Generation) -> Part:
    """Compare a new index with what the database says that it must hold, and so the one that answers on this machine.

    That one is left out if it has read a change that this transaction does not see.
    """
    part = Part("lexical index")
    new, answering = LexicalIndex(generation.pk), lexical_index(generation.pk)
    new.follow()
    answering.follow()
    wanted = retrievable_entries(generation.pk)
    part.checked = len(wanted)
    for index in (new, answering) if answering.at == new.at else (new,):
        for entry in wanted ^ index.contents():
            part.report(f"passage {entry.passage}: {'missing' if entry in wanted else 'should not be there'}")
    return part


def retrievable_entries(generation_id: int) -> set[Entry]:
    """Return what every lexical index of this generation must hold now."""
    rows = Passage.objects.retrievable(generation_id).order_by()
    fields = rows.values_list("pk", "document", "document__valid_from", "document__valid_until")
    return {
        Entry(
            pk,
            document,
            valid_from.toordinal() if valid_from else FIRST_DAY,
            valid_until.toordinal() if valid_until else LAST_DAY,
        )
        for pk, document, valid_from, valid_until in fields.iterator(chunk_size=5000)
    }
