"""The time of one retrieval, the question's embedding included: ours, the peer's and pgvector's alone, in turns.

Each runs in a fresh process of its own, one thread, all warm; they take turns on the same questions. Beside that the
dense part's recall against an exact scan, and whether PostgreSQL used the HNSW index for it.
"""

import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from django.db import connection, transaction

from benchmarks.environment import Child, postgres_processes
from benchmarks.loading import Loader, as_minilm
from benchmarks.measuring import percentiles, proportional_mib, say, table
from core.inference.embeddings import get_embedder
from faqs.models import FAQ, FAQVector
from knowledge.indexing.generations import live_generation
from knowledge.models import Document
from knowledge.retrieval.dense import DenseRetriever
from knowledge.retrieval.scope import build_scope
from knowledge.retrieval.types import Query, Scope

SIZES, QUICK_SIZES = [249, 2_490, 24_900], [249, 2_490]
QUESTIONS, WARM_UP, FAQS = 200, 15, 300
RECALL_QUESTIONS, K = 50, 50
#: Candidates that the search of the HNSW index keeps, HNSW_EF_SEARCH; the first is the default.
CANDIDATES = (100, 200, 400)
EXACT = "SELECT id FROM knowledge_passage ORDER BY embedding <=> %s::halfvec LIMIT %s"


def measure(folder: Path, *, sizes: Sequence[int], quick: bool) -> list[dict[str, Any]]:
    files = folder / "peer"
    files.mkdir()
    loader = Loader(files, embedded=60 if quick else 300)
    results = []
    for size in sizes:
        say(f"loading {size:,} documents ...")
        loader.grow(size)
        if not FAQ.objects.exists():
            loader.add_faqs(100 if quick else FAQS)
        results.append(measure_size(folder, loader, questions=40 if quick else QUESTIONS))
        show(results[-1])
    summarise(results)
    return results


def measure_size(folder: Path, loader: Loader, *, questions: int) -> dict[str, Any]:
    faqs = loader.folder / "faqs.npz"
    write_faqs(faqs)
    python = os.environ.get("PEER_PYTHON", sys.executable)
    files = [str(path) for path in (loader.texts, loader.vectors, faqs)]
    with Child("ours") as ours, Child("peer", *files, python=python) as peer, Child("pgvector_alone") as pgvector:
        sides = {"ours": ours, "peer": peer, "pgvector alone": pgvector}
        for question in loader.corpus.questions(WARM_UP, pages=loader.size, kind=1):
            for child in sides.values():
                child.ask(question)
        asked = loader.corpus.questions(questions, pages=loader.size)
        answers: dict[str, list[dict[str, Any]]] = {name: [] for name in sides}
        for turn, question in enumerate(asked):
            # Whoever comes later finds the caches cold in another way: they take turns.
            first = turn % len(sides)
            for name in [*sides, *sides][first : first + len(sides)]:
                answers[name].append(sides[name].ask(question))
        result: dict[str, Any] = {"documents": loader.size, "questions": questions, "faqs": FAQ.objects.count()}
        for name, child in sides.items():
            result[name] = {
                "ms": percentiles(answer["ms"] for answer in answers[name]),
                "steps_ms": {
                    step: percentiles(answer["steps"][step] for answer in answers[name])
                    for step in answers[name][0]["steps"]
                },
                "mib": child.ask(None)["mib"],
                "ready_s": child.ready_seconds,
                **{key: value for key, value in child.ready.items() if key != "mib"},
            }
        # Its shared buffers serve every process of ours, so they are told apart.
        result["ours"]["postgres_mib"] = proportional_mib(postgres_processes(folder))
    result["ours_of_peer"] = {
        key: round(result["ours"]["ms"][key] / result["peer"]["ms"][key], 3) for key in ("p50", "p95")
    }
    result["dense"] = dense_quality(asked[:RECALL_QUESTIONS])
    return result


def write_faqs(path: Path) -> None:
    """Give the peer the same FAQ vectors; pages are numbered as its texts are, in order of documents."""
    documents = Document.objects.order_by("pk").values_list("pk", flat=True)
    pages = {document: number for number, document in enumerate(documents)}
    rows = FAQVector.objects.filter(faq__sources__position=0).values_list("embedding", "faq__sources__document_id")
    vectors, linked = zip(*rows, strict=True)
    np.savez(
        path, vectors=as_minilm(np.array(vectors, dtype=np.float32)), pages=[pages[document] for document in linked]
    )


def dense_quality(questions: Sequence[str]) -> list[dict[str, Any]]:
    """Recall@K of the dense part against an exact scan, its time, and how often PostgreSQL used the HNSW index, by
    candidates."""
    embedder, scope, generation = get_embedder(), build_scope(), live_generation().pk
    vectors = embedder.embed_questions(questions)
    queries = [
        Query(question, vector, generation, scale=embedder.scale)
        for question, vector in zip(questions, vectors, strict=True)
    ]
    exact = [nearest_exactly(query) for query in queries]
    return [{"candidates": each, **measure_dense(queries, exact, scope, candidates=each)} for each in CANDIDATES]


def nearest_exactly(query: Query) -> set[int]:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_indexscan = off")
        cursor.execute(EXACT, [str(query.vector.tolist()), K])
        return {passage for (passage,) in cursor.fetchall()}


def measure_dense(
    queries: Sequence[Query], exact: Sequence[set[int]], scope: Scope, *, candidates: int
) -> dict[str, Any]:
    recalls, milliseconds, least, scans = [], [], K, hnsw_scans()
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(f"SET LOCAL hnsw.ef_search = {candidates}")
        DenseRetriever().retrieve(queries[0], k=K, scope=scope)  # warm
        for query, nearest in zip(queries, exact, strict=True):
            started = time.perf_counter()
            found = {hit.passage_id for hit in DenseRetriever().retrieve(query, k=K, scope=scope)}
            milliseconds.append((time.perf_counter() - started) * 1000)
            recalls.append(len(found & nearest) / len(nearest))
            least = min(least, len(found))
    return {
        f"recall_at_{K}": round(float(np.mean(recalls)), 4),
        "worst_recall": round(min(recalls), 4),
        "fewest_found": least,
        "ms": percentiles(milliseconds),
        "hnsw_used": round((hnsw_scans() - scans) / (len(queries) + 1), 2),
    }


SCANS = "SELECT sum(idx_scan) FROM pg_stat_user_indexes WHERE indexrelname LIKE 'knowledge_passage_hnsw_%'"


def hnsw_scans() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_force_next_flush()")
        cursor.execute(SCANS)
        return int(cursor.fetchone()[0])


def show(result: dict[str, Any]) -> None:
    ours, peer = result["ours"], result["peer"]
    say(f"\n{result['documents']:,} documents, {result['questions']} questions, {result['faqs']} FAQs")
    say(f"peer's embedder: {peer['embedder']}\n")
    steps = [*ours["steps_ms"], *(step for step in peer["steps_ms"] if step not in ours["steps_ms"])]
    sides = [(name, result[name]) for name in ("ours", "peer", "pgvector alone")]
    cells = [
        [name, both(side["ms"]), *(both(side["steps_ms"][step]) if step in side["steps_ms"] else "" for step in steps)]
        for name, side in sides
    ]
    table(["p50 / p95, ms", "all", *steps], cells)
    say()
    head = ["", "MiB", "of PostgreSQL, MiB", "ready, s", "lexical index, s"]
    table(
        head,
        [
            [name, side["mib"], side.get("postgres_mib", ""), side["ready_s"], side.get("lexical_build_s", "")]
            for name, side in sides
        ],
    )
    say()
    table(
        ["candidates", f"recall@{K}", "worst", "fewest found", "dense p50 / p95, ms", "through HNSW"],
        [
            [
                row["candidates"],
                row[f"recall_at_{K}"],
                row["worst_recall"],
                row["fewest_found"],
                both(row["ms"]),
                f"{row['hnsw_used']:.0%}",
            ]
            for row in result["dense"]
        ],
    )
    say()


def summarise(results: Sequence[dict[str, Any]]) -> None:
    table(
        ["documents", "ours p50 / p95, ms", "peer p50 / p95, ms", "pgvector alone p50 / p95, ms", "ours / peer p50"],
        [
            [
                f"{result['documents']:,}",
                *(both(result[name]["ms"]) for name in ("ours", "peer", "pgvector alone")),
                ratio(result),
            ]
            for result in results
        ],
    )


def both(value: dict[str, float]) -> str:
    return f"{value['p50']:.1f} / {value['p95']:.1f}"


def ratio(result: dict[str, Any]) -> float:
    return float(result["ours_of_peer"]["p50"])
