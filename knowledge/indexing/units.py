"""Indexing of units: sentences and propositions follow what the passages' collections ask for.

A passage's row never changes its text, so its units are made once and deleted with it; an edit costs the units of the
passages it changed. Propositions are added when `knowledge.indexing.propositions` has made them, and delay nothing.
"""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from django.db import transaction
from django.db.models import Exists, OuterRef

from core.inference.embeddings import Embedder
from knowledge.chunking.sentences import in_context, sentences, spoken
from knowledge.models import (
    Collection,
    Document,
    Generation,
    Granularity,
    IndexedDocument,
    Passage,
    PropositionSet,
    Unit,
)

logger = logging.getLogger(__name__)

#: Texts embedded between two writes, which a killed worker may lose.
BATCH = 256


@dataclass(frozen=True, slots=True)
class Part:
    """A unit without its vector."""

    text: str
    begin: int | None = None
    end: int | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """The units of one granularity that a passage is to have instead of those it has."""

    passage: Passage
    granularity: str
    parts: Sequence[Part]


@dataclass(frozen=True, slots=True)
class _Plan:
    """A document's passages as read, and what is to be done about their units."""

    granularities: Sequence[str]
    passage_ids: frozenset[int]
    changes: Sequence[Change]


def count_units(collection: Collection, granularity: Granularity) -> int:
    """Count the units of the live generation."""
    passages = Passage.objects.live().filter(document__collection=collection)
    return Unit.objects.filter(passage__in=passages.values("pk"), granularity=granularity).count()


def count_unindexed(collection: Collection) -> int:
    """Count passages of the live generation that do not have all their finer units yet."""
    done = IndexedDocument.objects.filter(
        document=OuterRef("document"),
        generation=OuterRef("generation"),
        granularities=OuterRef("document__collection__granularities"),
    )
    return Passage.objects.live().filter(document__collection=collection).exclude(Exists(done)).count()


def sync_units(document_id: int, generation: Generation, embedder: Embedder) -> int:
    """Bring the units of one document's passages in one generation up to date, and record that.

    Embedding happens outside transactions; other workers may do the same at once. Returns how many units were
    embedded. Raises EmbeddingUnavailable.
    """
    embedded = 0
    while plan := _plan(document_id, generation):
        for batch in _batches(plan.changes):
            vectors = iter(embedder.embed([_input(change.passage, part) for change in batch for part in change.parts]))
            rows = [
                Unit(
                    generation=generation,
                    passage=change.passage,
                    granularity=change.granularity,
                    position=position,
                    text=part.text,
                    begin=part.begin,
                    end=part.end,
                    embedding=next(vectors),
                )
                for change in batch
                for position, part in enumerate(change.parts)
            ]
            embedded += len(rows)
            _write(document_id, batch, rows)
        if not plan.changes and _record(document_id, generation, plan):
            break
    if embedded:
        logger.info("units embedded document=%d generation=%d units=%d", document_id, generation.pk, embedded)
    return embedded


def delete_unwanted(document: Document, generation: Generation, wanted: Sequence[str]) -> None:
    """Delete the units of granularities that the document's collection no longer asks for."""
    units = Unit.objects.filter(passage__document=document, passage__generation=generation)
    units.exclude(granularity__in=wanted).delete()


def _plan(document_id: int, generation: Generation) -> _Plan | None:
    """Plan the changes; None if the document was deleted."""
    wanted = Collection.objects.filter(documents=document_id).values_list("granularities", flat=True).first()
    if wanted is None:
        return None
    rows = Passage.objects.filter(document=document_id, generation=generation).select_related("document")
    passages = list(rows.only("heading_path", "text", "input_hash", "document__title").order_by("position"))
    there = _parts_by_passage([passage.pk for passage in passages])
    hashes = {passage.input_hash for passage in passages} if Granularity.PROPOSITION in wanted else set()
    made = dict(PropositionSet.objects.filter(input_hash__in=hashes).values_list("input_hash", "propositions"))
    changes = []
    for passage in passages:
        for granularity in Granularity.values:
            parts: list[Part] = []
            if granularity in wanted and granularity == Granularity.SENTENCE:
                parts = [
                    Part(each.text, each.begin, each.end) for each in sentences(passage.text, passage.heading_path)
                ]
            elif granularity in wanted:
                parts = [Part(text) for text in made.get(passage.input_hash, ())]
            if there.get((passage.pk, granularity), []) != parts:
                changes.append(Change(passage, granularity, parts))
    return _Plan(wanted, frozenset(passage.pk for passage in passages), changes)


def _parts_by_passage(passage_ids: Sequence[int]) -> dict[tuple[int, str], list[Part]]:
    rows = Unit.objects.filter(passage__in=passage_ids).order_by("passage", "granularity", "position")
    values = rows.values_list("passage", "granularity", "text", "begin", "end")
    return {key: [Part(*row[2:]) for row in found] for key, found in groupby(values, key=lambda row: (row[0], row[1]))}


def _batches(changes: Sequence[Change]) -> Iterator[list[Change]]:
    """Yield batches of about BATCH units."""
    batch: list[Change] = []
    size = 0
    for change in changes:
        batch.append(change)
        size += len(change.parts)
        if size >= BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _input(passage: Passage, part: Part) -> str:
    return in_context(passage.document.title, passage.heading_path, spoken(part.text))


def _write(document_id: int, batch: Sequence[Change], rows: Sequence[Unit]) -> None:
    """Replace units under the document's lock, as passages are written; passages may be deleted by now."""
    with transaction.atomic():
        if not Document.objects.select_for_update().filter(pk=document_id).exists():
            return
        for granularity in Granularity.values:
            changed = [change.passage.pk for change in batch if change.granularity == granularity]
            Unit.objects.filter(passage__in=changed, granularity=granularity).delete()
        ids = [change.passage.pk for change in batch]
        alive = set(Passage.objects.filter(pk__in=ids).values_list("pk", flat=True))
        Unit.objects.bulk_create([row for row in rows if row.passage_id in alive], batch_size=200)


def _record(document_id: int, generation: Generation, plan: _Plan) -> bool:
    """Record that the document has all its units; return whether the plan still holds."""
    with transaction.atomic():
        document = Document.objects.select_for_update(of=["self"]).select_related("collection").filter(pk=document_id)
        if (locked := document.first()) is None:
            return True
        passages = Passage.objects.filter(document=locked, generation=generation)
        if (
            locked.collection.granularities != plan.granularities
            or frozenset(passages.values_list("pk", flat=True)) != plan.passage_ids
        ):
            return False
        indexed = IndexedDocument.objects.filter(document=locked, generation=generation)
        indexed.update(granularities=plan.granularities)
        return True
