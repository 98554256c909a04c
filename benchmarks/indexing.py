"""Passages a second of `sync_document`, beside the embedder's own speed on the same texts in the same run."""

import statistics
import time
from typing import Any

from benchmarks.corpus import Corpus
from benchmarks.loading import passage_inputs
from benchmarks.measuring import say
from knowledge.indexing import sync_document
from knowledge.inference.embedder import get_embedder
from knowledge.models import Collection, Document

#: Pages that no other benchmark loads.
FIRST = 100_000


def measure(*, documents: int) -> dict[str, Any]:
    corpus, embedder = Corpus(), get_embedder()
    collection = Collection.objects.create(slug="indexing", name="Indexing", searched_by_default=False)
    passages = 0
    seconds: dict[str, list[float]] = {"index": [], "embed": []}
    for number in range(documents + 1):
        page = corpus.page(FIRST + number)
        document = Document.objects.create(collection=collection, url=page.url, title=page.title, text=page.markdown)
        # In turns first, on a machine whose speed may change.
        for what in ("embed", "index") if number % 2 else ("index", "embed"):
            started = time.perf_counter()
            if what == "embed":
                embedder.embed(passage_inputs(page))
            else:
                report = sync_document(document.pk)
                assert report.embedded == len(page.sections)
            if number:  # the first one warms up
                seconds[what].append(time.perf_counter() - started)
        passages += len(page.sections) * (number > 0)
    rates = {what: passages / documents / statistics.median(values) for what, values in seconds.items()}
    result = {
        "documents": documents,
        "passages": passages,
        "indexed_a_second": round(rates["index"], 1),
        "embedded_a_second": round(rates["embed"], 1),
        "share_of_embedding": round(rates["index"] / rates["embed"], 3),
    }
    say(
        f"{passages} passages of {documents} documents: {result['indexed_a_second']} a second indexed, "
        f"{result['embedded_a_second']} a second only embedded ({result['share_of_embedding']:.0%} of the time); "
        "from the median document"
    )
    return result
