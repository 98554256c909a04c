"""Indexing of documents: passages, vectors and the change log follow the documents in every active generation."""

import logging
from collections import deque
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from core.hashing import fingerprint
from core.inference.embeddings import Embedder
from knowledge.chunking.chunker import Chunk, cut
from knowledge.chunking.page_markers import with_pages
from knowledge.chunking.sentences import in_context
from knowledge.editions.grouping import place_document
from knowledge.guardrails.injection import DOCUMENT_RECIPE
from knowledge.indexing.change_log import record_change
from knowledge.indexing.flags import Flag, FlagFinder, drop_unused_flags, is_withheld, record_flags
from knowledge.indexing.generations import (
    active_generations,
    generation_built,
    generation_to_build,
    go_live,
    live_generation,
    load_embedder,
)
from knowledge.indexing.units import delete_unwanted, sync_units
from knowledge.models import Document, Generation, IndexedDocument, Passage

logger = logging.getLogger(__name__)

#: Documents cut, being embedded or being written at once.
IN_FLIGHT = 3


@dataclass(frozen=True, slots=True)
class SyncReport:
    """The work of bringing one document up to date, in passages."""

    embedded: int = 0
    kept: int = 0
    removed: int = 0


@dataclass(frozen=True, slots=True)
class Cut:
    """A passage to be written; `input_hash` is of all that its vector depends on, `flags` are for staff to check."""

    position: int
    heading_path: tuple[str, ...]
    text: str
    page: int | None
    tokens: int
    input: str
    input_hash: str
    flags: tuple[Flag, ...] = ()

    @property
    def flag_hashes(self) -> list[str]:
        return [flag.text_hash for flag in self.flags]


def embedding_input(title: str, chunk: Chunk) -> str:
    """Build the embedder's input of a passage."""
    return in_context(title, chunk.heading_path, chunk.text)


def sync_document(document_id: int) -> SyncReport:
    """Bring one document up to date in every active generation; a deleted document is fine.

    Returns the work done in the live one. Raises EmbeddingUnavailable.
    """
    live, *building = active_generations()
    report = sync_in(document_id, live, load_embedder(live))
    for generation in building:
        sync_in(document_id, generation, load_embedder(generation))
    return report


def sync_in(document_id: int, generation: Generation, embedder: Embedder) -> SyncReport:
    """Bring one document's passages in one generation up to date; unchanged texts keep their vectors.

    Embedding happens outside the transaction, so that no edit waits for it; an edit made meanwhile starts it again.
    """
    while True:
        work = _prepare(document_id, generation, embedder)
        if work is None:
            return SyncReport()
        if report := work.write(work.embed(embedder)):
            work.finish(embedder)
            return report


@dataclass(frozen=True, slots=True)
class _Work:
    """A document as read, cut, and with the vectors that exist already."""

    document: Document
    generation: Generation
    cuts: Sequence[Cut]
    known: dict[str, Any]

    def embed(self, embedder: Embedder) -> dict[str, Any]:
        missing = {cut.input_hash: cut.input for cut in self.cuts if cut.input_hash not in self.known}
        return dict(zip(missing, embedder.embed(list(missing.values())), strict=True)) if missing else {}

    def write(self, embedded: dict[str, Any]) -> SyncReport | None:
        """Write the passages; return None if the document was edited since it was read, and must be read again."""
        with transaction.atomic():
            locked = Document.objects.select_for_update().filter(pk=self.document.pk).first()
            if locked is None:
                return SyncReport()
            if locked.state_hash != self.document.state_hash:
                return None
            cleared = record_flags(locked, (flag for each in self.cuts for flag in each.flags))
            removed = _replace_passages(locked, self.generation, self.cuts, self.known | embedded, cleared)
            drop_unused_flags(locked)
            delete_unwanted(locked, self.generation, self.document.collection.granularities)
            state = {
                "state_hash": locked.state_hash,
                "rules": DOCUMENT_RECIPE,
                "granularities": [],  # until the units are there too
            }
            IndexedDocument.objects.update_or_create(document=locked, generation=self.generation, defaults=state)
            if self.generation.state == Generation.State.LIVE:
                place_document(locked)
            record_change(locked.pk)
        kept = len(self.cuts) - len(embedded)
        logger.info("document indexed id=%d embedded=%d kept=%d", locked.pk, len(embedded), kept)
        return SyncReport(embedded=len(embedded), kept=kept, removed=removed)

    def finish(self, embedder: Embedder) -> None:
        """Make the units that the collection asks for; until then the document still needs its index."""
        if self.document.collection.granularities:
            sync_units(self.document.pk, self.generation, embedder)


def _prepare(document_id: int, generation: Generation, embedder: Embedder) -> _Work | None:
    """Prepare the work on a document; None if there is nothing to do."""
    pending = Document.objects.needing_index(generation.pk).select_related("collection")
    document = pending.filter(pk=document_id).first()
    if document is None:
        return None
    cuts = cut_passages(document, generation, embedder)
    # Vectors of the same model count whichever generation made them: cutting anew embeds only what is new.
    same_model = Passage.objects.filter(document=document, generation__embedder=generation.embedder)
    known = dict(same_model.values_list("input_hash", "embedding"))
    return _Work(document, generation, cuts, known)


def cut_passages(document: Document, generation: Generation, embedder: Embedder) -> list[Cut]:
    """Cut a document into the passages that a generation is to have, in order.

    A draft has none, so that no search has to leave it out. An FAQ's answer has some before its FAQ is published: a
    shadow test tries it as if it was.
    """
    if document.is_draft and not document.is_written_answer:
        return []
    cuts = []
    finder = FlagFinder(title=document.title, text=document.text)
    for chunk, page in with_pages(cut(document.text, limit=generation.passage_tokens, measure=embedder.count_tokens)):
        text = embedding_input(document.title, chunk)
        tokens = embedder.count_tokens(chunk.text)
        flags = finder.find(chunk.heading_path, chunk.text)
        cuts.append(Cut(chunk.position, chunk.heading_path, chunk.text, page, tokens, text, fingerprint(text), flags))
    return cuts


def _replace_passages(
    document: Document, generation: Generation, cuts: Sequence[Cut], vectors: dict[str, Any], cleared: Collection[str]
) -> int:
    """Replace the passages; rows whose text stayed keep their ids, so that citations still point at them.

    Returns how many were deleted. `cleared` are the hashes of the flags that keep no passage out of answers.
    """
    spare: dict[str, list[Passage]] = {}
    for passage in document.passages.filter(generation=generation).defer("embedding"):
        spare.setdefault(passage.input_hash, []).append(passage)
    moved, added = [], []
    for piece in cuts:
        if rows := spare.get(piece.input_hash):
            passage = rows.pop(0)
            now = piece.position, piece.page, piece.flag_hashes, is_withheld(piece.flag_hashes, cleared)
            if (passage.position, passage.page, passage.flags, passage.is_withheld) != now:
                passage.position, passage.page, passage.flags, passage.is_withheld = now
                moved.append(passage)
        else:
            added.append(
                Passage(
                    generation=generation,
                    document=document,
                    position=piece.position,
                    heading_path=list(piece.heading_path),
                    text=piece.text,
                    page=piece.page,
                    tokens=piece.tokens,
                    input_hash=piece.input_hash,
                    embedding=vectors[piece.input_hash],
                    flags=piece.flag_hashes,
                    is_withheld=is_withheld(piece.flag_hashes, cleared),
                )
            )
    gone = [passage.pk for rows in spare.values() for passage in rows]
    Passage.objects.filter(pk__in=gone).delete()
    Passage.objects.bulk_update(moved, ["position", "page", "flags", "is_withheld"], batch_size=500)
    Passage.objects.bulk_create(added, batch_size=200)
    return len(gone)


# --- pending documents ---


def sync_pending(*, progress: Callable[[int, int], None] | None = None) -> int:
    """Bring every document that needs it up to date in the live generation; return how many.

    `progress` gets (done, of).
    """
    return sync_generation(live_generation(), progress=progress)


def sync_generation(
    generation: Generation,
    *,
    embedder: Embedder | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> int:
    """Bring every document that needs it up to date in this generation, the newest first; return how many.

    Documents that were saved together wait in a queue, oldest first: begun at the same end, each would be embedded here
    and there at once. While a thread embeds one document, the one before it is written and the next one is cut, so that
    the model never waits; at most `IN_FLIGHT` documents are in memory.
    """
    embedder = embedder or load_embedder(generation)
    pending = list(Document.objects.needing_index(generation.pk).order_by("-pk").values_list("pk", flat=True))
    in_flight: deque[tuple[_Work, Future[dict[str, Any]]]] = deque()

    def finish_oldest() -> None:
        work, embedded = in_flight.popleft()
        if work.write(embedded.result()) is None:
            sync_in(work.document.pk, generation, embedder)
        else:
            work.finish(embedder)

    with ThreadPoolExecutor(1, "embed") as pool:
        try:
            for done, document_id in enumerate(pending):
                if progress:
                    progress(done - len(in_flight), len(pending))
                if work := _prepare(document_id, generation, embedder):
                    in_flight.append((work, pool.submit(work.embed, embedder)))
                if len(in_flight) == IN_FLIGHT:
                    finish_oldest()
            while in_flight:
                finish_oldest()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
    if progress and pending:
        progress(len(pending), len(pending))
    return len(pending)


def build_pending(*, progress: Callable[[int, int], None] | None = None) -> Generation | None:
    """Build the generation that the settings ask for beside the live one, then make it live.

    Returns it, or None if there was nothing to build. It can be stopped and started again at any time.
    """
    generation = generation_to_build()
    if generation is None:
        return None
    is_whole = False
    while not is_whole:
        sync_generation(generation, progress=progress)
        more = [count for _receiver, count in generation_built.send(sender=Generation, generation=generation)]
        is_whole = not any(more) and not Document.objects.needing_index(generation.pk).exists()
    go_live(generation)
    sync_generation(generation)  # what was edited while its last index was built
    return generation
