"""Synthetic pages into the real tables, in bulk: what indexing them one by one would leave there, minus the wait.

The passages of the first `embedded` pages are embedded for real; the vectors of all others are derived from these.
"""

import json
from pathlib import Path

import numpy as np
from django.db import connection, transaction

from benchmarks.corpus import SECTIONS, Corpus, Page, Vectors, derived_vectors
from core.hashing import fingerprint
from core.inference.embeddings import get_embedder
from faqs.indexing import sync_pending as sync_faqs
from faqs.models import FAQ, FAQSource, Phrasing
from knowledge.chunking.chunker import Chunk
from knowledge.indexing.change_log import record_change
from knowledge.indexing.documents import embedding_input
from knowledge.indexing.generations import create_indexes, drop_indexes, live_generation
from knowledge.models import Collection, Document, IndexedDocument

BATCH = 500
COPY = (
    "COPY knowledge_passage (generation_id, document_id, position, heading_path, text, tokens, input_hash, embedding)"
    " FROM STDIN"
)


class Loader:
    """A collection that grows; what it holds is also written to `folder` for the peer."""

    def __init__(self, folder: Path, *, embedded: int) -> None:
        self.corpus = Corpus()
        self.folder, self.size = folder, 0
        self.texts, self.vectors = folder / "pages.jsonl", folder / "vectors.npy"
        self._collection = Collection.objects.create(slug="bench", name="Benchmark")
        self._embedder, self._generation = get_embedder(), live_generation()
        self._documents: list[int] = []
        self._page_vectors: list[Vectors] = []
        pages = [self.corpus.page(number) for number in range(embedded)]
        self._real = self._embedder.embed([text for page in pages for text in passage_inputs(page)])

    def grow(self, size: int) -> None:
        """Add pages up to `size`; the HNSW index is made afresh, as after a first import."""
        drop_indexes(self._generation)
        with self.texts.open("a") as texts:
            for start in range(self.size, size, BATCH):
                pages = [self.corpus.page(number) for number in range(start, min(start + BATCH, size))]
                self._add(pages)
                texts.writelines(json.dumps(page.text) + "\n" for page in pages)
        self.size = size
        np.save(self.vectors, as_minilm(np.concatenate(self._page_vectors)))
        with connection.cursor() as cursor, transaction.atomic():
            cursor.execute("SET LOCAL maintenance_work_mem = '1GB'")
            create_indexes(self._generation, concurrently=False)
        with transaction.atomic():
            record_change(self._documents[-1])
        self.settle()

    def settle(self) -> None:
        """Do what autovacuum does within minutes."""
        with connection.cursor() as cursor:
            cursor.execute("VACUUM (ANALYZE)")
            cursor.execute("CHECKPOINT")

    def add_faqs(self, count: int) -> None:
        """Publish FAQs on the pages there are, and embed them."""
        for question, phrasings, pages in self.corpus.faqs(count, pages=self.size):
            faq = FAQ.objects.create(question=question, status=FAQ.Status.PUBLISHED)
            Phrasing.objects.bulk_create(Phrasing(faq=faq, text=text) for text in dict.fromkeys(phrasings))
            FAQSource.objects.bulk_create(
                FAQSource(faq=faq, document_id=self._documents[page], position=position)
                for position, page in enumerate(pages)
            )
        sync_faqs()
        self.settle()

    def _add(self, pages: list[Page]) -> None:
        vectors = self._passage_vectors(pages)
        self._page_vectors.append(unit(vectors.reshape(len(pages), SECTIONS, -1).mean(axis=1)))
        with transaction.atomic(), connection.cursor() as cursor:
            documents = Document.objects.bulk_create(self._document(page) for page in pages)
            IndexedDocument.objects.bulk_create(
                IndexedDocument(document=document, generation=self._generation, state_hash=document.state_hash)
                for document in documents
            )
            rows = iter(vectors)
            with cursor.copy(COPY) as copy:
                for page, document in zip(pages, documents, strict=True):
                    self._documents.append(document.pk)
                    for position, ((heading, text), hashed) in enumerate(
                        zip(page.sections, passage_inputs(page), strict=True)
                    ):
                        vector = str(next(rows).tolist())
                        row = (document.pk, position, [heading], text, 0, fingerprint(hashed), vector)
                        copy.write_row((self._generation.pk, *row))

    def _passage_vectors(self, pages: list[Page]) -> Vectors:
        start = pages[0].number * SECTIONS
        real = self._real[start : start + len(pages) * SECTIONS]
        return np.concatenate((real, derived_vectors(self._real, len(pages) * SECTIONS - len(real), start=start)))

    def _document(self, page: Page) -> Document:
        content = fingerprint(page.title, page.markdown)
        return Document(
            collection=self._collection,
            url=page.url,
            title=page.title,
            language=page.language,
            text=page.markdown,
            content_hash=content,
            state_hash=fingerprint(content, str(self._collection.pk)),
        )


def passage_inputs(page: Page) -> list[str]:
    return [
        embedding_input(page.title, Chunk(position, (heading,), text))
        for position, (heading, text) in enumerate(page.sections)
    ]


def as_minilm(vectors: Vectors) -> Vectors:
    """Return the part of all-MiniLM-L6-v2, which stands first where two models are joined: the peer has no other."""
    return unit(vectors[:, :384])


def unit(vectors: Vectors) -> Vectors:
    normalised: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return normalised
