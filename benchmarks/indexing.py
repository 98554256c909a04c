"""Passages a second that `sync_pending` indexes, beside the embedder's own speed in the same run, and its memory.

Blocks of pages are indexed and, of every few blocks, the same texts are only embedded, in turns: the machine's speed
may change while this runs.
"""

import statistics
import time
from typing import Any

from benchmarks.corpus import Corpus
from benchmarks.loading import passage_inputs
from benchmarks.measuring import resident_mib, say
from core.inference.embeddings import get_embedder
from knowledge.indexing.documents import sync_pending
from knowledge.models import Collection, Document, Passage

#: Pages that no other benchmark loads.
FIRST = 100_000
BLOCK = 20
#: Every so many blocks the texts are also only embedded.
COMPARED = 3


def measure(*, documents: int) -> dict[str, Any]:
    corpus, embedder = Corpus(), get_embedder()
    collection = Collection.objects.create(slug="indexing", name="Indexing", searched_by_default=False)
    rates: dict[str, list[float]] = {"index": [], "embed": []}
    memory: list[float] = []
    began, embedding = time.perf_counter(), 0.0
    for block, start in enumerate(range(0, documents, BLOCK)):
        pages = [corpus.page(FIRST + number) for number in range(start, min(start + BLOCK, documents))]
        texts = [text for page in pages for text in passage_inputs(page)]
        for page in pages:
            Document.objects.create(collection=collection, url=page.url, title=page.title, text=page.markdown)
        turns = ("index", "embed") if block % (2 * COMPARED) else ("embed", "index")
        for what in turns if block % COMPARED == 0 else ("index",):
            started = time.perf_counter()
            if what == "embed":
                embedder.embed(texts)
                embedding += time.perf_counter() - started
            else:
                sync_pending()
            if block:  # the first one warms up
                rates[what].append(len(texts) / (time.perf_counter() - started))
        memory.append(resident_mib())
    passages = Passage.objects.count()
    result = {
        "documents": documents,
        "passages": passages,
        "indexed_a_second": round(statistics.median(rates["index"]), 1),
        "embedded_a_second": round(statistics.median(rates["embed"]), 1),
        "share_of_embedding": round(statistics.median(rates["index"]) / statistics.median(rates["embed"]), 3),
        "minutes": round((time.perf_counter() - began - embedding) / 60, 1),
        "resident_mib": {"first": memory[0], "middle": memory[len(memory) // 2], "last": memory[-1]},
    }
    say(
        f"{passages:,} passages of {documents:,} documents in {result['minutes']} min: "
        f"{result['indexed_a_second']} a second indexed, {result['embedded_a_second']} a second only embedded "
        f"({result['share_of_embedding']:.0%}); resident memory after the first block, in the middle and at the end: "
        f"{memory[0]:.0f}, {memory[len(memory) // 2]:.0f}, {memory[-1]:.0f} MiB"
    )
    return result
