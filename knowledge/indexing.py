"""Keeps passages, vectors and the change log equal to the documents."""

import logging
from collections.abc import Callable
from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone

from knowledge.changes import record_change
from knowledge.hashing import fingerprint
from knowledge.inference.embedder import Embedder, get_embedder
from knowledge.models import Document, Passage
from knowledge.passages.chunking import Chunk, cut
from knowledge.passages.pages import with_pages

logger = logging.getLogger(__name__)

#: Word pieces of a passage's own text; with its title and headings it fits the embedder's window of 256.
PASSAGE_TOKENS = 200


@dataclass(frozen=True, slots=True)
class SyncReport:
    """What bringing one document up to date took, in passages."""

    embedded: int = 0
    kept: int = 0
    removed: int = 0


def embedding_input(title: str, chunk: Chunk) -> str:
    """What the embedder reads of a passage: it needs to know where the text stands."""
    return "\n".join((title, " › ".join(chunk.heading_path), chunk.text))


def sync_document(document_id: int, *, embedder: Embedder | None = None) -> SyncReport:
    """Brings one document's passages up to date; unchanged texts keep their vectors, a document that is gone is fine.

    Embedding happens outside the transaction, so that nobody's edit waits for it; an edit made meanwhile starts
    it again. Raises EmbeddingUnavailable.
    """
    embedder = embedder or get_embedder()
    while True:
        document = Document.objects.filter(pk=document_id).first()
        if document is None or (document.is_indexed and document.indexed_recipe == embedder.recipe):
            return SyncReport()
        cuts = cut(document.text, limit=PASSAGE_TOKENS, measure=embedder.count_tokens)
        paged = list(with_pages(cuts))
        chunks = [chunk for chunk, _page in paged]
        inputs = [embedding_input(document.title, chunk) for chunk in chunks]
        hashes = [fingerprint(text) for text in inputs]
        known = dict(
            document.passages.filter(recipe=embedder.recipe, embedding__isnull=False).values_list(
                "input_hash", "embedding"
            )
        )
        missing = {hash_: text for hash_, text in zip(hashes, inputs, strict=True) if hash_ not in known}
        if missing:
            known.update(zip(missing, embedder.embed(list(missing.values())), strict=True))
        with transaction.atomic():
            locked = Document.objects.select_for_update().filter(pk=document_id).first()
            if locked is None:
                return SyncReport()
            if locked.state_hash != document.state_hash:
                continue
            removed = _replace_passages(locked, paged, hashes, known, embedder.recipe)
            Document.objects.filter(pk=document_id).update(
                indexed_state=locked.state_hash, indexed_recipe=embedder.recipe, indexed_at=timezone.now()
            )
            record_change(document_id)
        report = SyncReport(embedded=len(missing), kept=len(chunks) - len(missing), removed=removed)
        logger.info("document indexed id=%d embedded=%d kept=%d", document_id, report.embedded, report.kept)
        return report


def _replace_passages(
    document: Document,
    paged: list[tuple[Chunk, int | None]],
    hashes: list[str],
    vectors: dict[str, object],
    recipe: str,
) -> int:
    """Rows whose text stayed keep their ids, so that citations go on pointing at them; returns how many went."""
    spare: dict[str, list[Passage]] = {}
    for passage in document.passages.defer("embedding"):
        spare.setdefault(passage.input_hash if passage.recipe == recipe else "", []).append(passage)
    moved, added = [], []
    for (chunk, page), hash_ in zip(paged, hashes, strict=True):
        if rows := spare.get(hash_):
            passage = rows.pop(0)
            if (passage.position, passage.page) != (chunk.position, page):
                passage.position, passage.page = chunk.position, page
                moved.append(passage)
        else:
            added.append(
                Passage(
                    document=document,
                    position=chunk.position,
                    heading_path=list(chunk.heading_path),
                    text=chunk.text,
                    page=page,
                    input_hash=hash_,
                    embedding=vectors[hash_],
                    recipe=recipe,
                )
            )
    gone = [passage.pk for rows in spare.values() for passage in rows]
    Passage.objects.filter(pk__in=gone).delete()
    Passage.objects.bulk_update(moved, ["position", "page"], batch_size=500)
    Passage.objects.bulk_create(added, batch_size=200)
    return len(gone)


def sync_pending(*, progress: Callable[[int, int], None] | None = None) -> int:
    """Brings every document that needs it up to date; returns how many. `progress` gets (done, of)."""
    embedder = get_embedder()
    pending = list(Document.objects.needing_index(embedder.recipe).order_by("pk").values_list("pk", flat=True))
    for done, document_id in enumerate(pending):
        if progress:
            progress(done, len(pending))
        sync_document(document_id, embedder=embedder)
    if progress and pending:
        progress(len(pending), len(pending))
    return len(pending)
