"""Precision and recall of "answered" for topics asked again: the rule, and the one before it.

`data/asked_again.jsonl` has questions of one meaning with a page that answers them, and with a near miss of the same
shape (cars and bicycles, bachelor and master, the library of another town). Each is new to a site that has the right
pages of all other rows. The rows `dev` were read while the rule was made, `held_out` were not.
"""

import json
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import numpy as np
from django.utils import timezone

from analytics.gaps.answered.changes import Changes, read_vectors
from analytics.gaps.answered.judging import FAQS, SURE, evidence_alone, find_cover
from benchmarks.environment import ROOT
from benchmarks.measuring import percentiles, say, table
from chat.models import Assistant
from chat.pipeline.question import build_question
from chat.pipeline.retrieval.candidates import load_candidates
from chat.pipeline.retrieval.profiles import retrieve_with
from core.inference.embeddings import get_embedder
from faqs.answers.pages import index_pages, sync_pages
from faqs.indexing import sync_pending as sync_pending_faqs
from faqs.models import FAQ
from faqs.retriever import confidence, match
from knowledge.indexing.documents import sync_pending
from knowledge.models import Collection, Document
from knowledge.retrieval.scope import build_scope

PAIRS = ROOT / "benchmarks" / "data" / "asked_again.jsonl"
SIDES = ("right", "wrong")
PARTS = ("dev", "in_passing", "held_out")


@dataclass(frozen=True, slots=True)
class Row:
    """Questions of one meaning, and the collection of each page: the right one and the near miss."""

    part: str
    kind: str
    shape: str
    asked: Sequence[str]
    pages: dict[str, Collection]


def measure() -> dict[str, Any]:
    before = timezone.now() - timedelta(days=1)
    rows = load()
    others = [row.pages["right"] for row in rows]
    Document.objects.update(created_at=before)
    FAQ.objects.update(updated_at=before)
    found = [
        {"part": row.part, "kind": row.kind, "shape": row.shape, "side": side, **judge(row, side, others)}
        for row in rows
        for side in SIDES
    ]
    results: dict[str, Any] = {"rows": len(rows), "nearness": nearness(rows)}
    for part in PARTS:
        for rule in ("before", "now"):
            results[f"{part}, {rule}"] = rates([each for each in found if each["part"] == part], rule)
    seconds = [each["seconds"] for each in found]
    results["seconds"] = percentiles(seconds)
    report(results, found)
    return results


def load() -> list[Row]:
    rows = []
    for number, given in enumerate(map(json.loads, PAIRS.read_text("utf-8").splitlines())):
        pages = {side: add(f"{number}-{side}", given["kind"], **given[side]) for side in SIDES}
        rows.append(Row(given["part"], given["kind"], given["shape"], given["asked"], pages))
    sync_pending()
    index_pages()
    sync_pending_faqs()
    return rows


def add(name: str, kind: str, *, language: str, title: str, text: str) -> Collection:
    collection = Collection.objects.create(slug=name, name=name)
    if kind == "faq":
        faq = FAQ(question=title, language=language, collection=collection, status=FAQ.Status.PUBLISHED)
        setattr(faq, f"answer_{language}", text)
        faq.date_answer()
        faq.save()
        sync_pages([faq.pk])
    else:
        url = f"https://www.uni.example/{name}"
        Document.objects.create(collection=collection, url=url, title=title, language=language, text=text)
    return collection


def judge(row: Row, side: str, others: Sequence[Collection]) -> dict[str, Any]:
    """Ask with one page that is new; return what both rules say."""
    assistant = Assistant.objects.create(name="University", slug=f"{row.pages[side].slug}")
    assistant.collections.set([row.pages[side], *(each for each in others if each != row.pages["right"])])
    new, now = row.pages[side], timezone.now()
    Document.objects.filter(collection=new).update(created_at=now)
    FAQ.objects.filter(collection=new).update(updated_at=now)
    since = now - timedelta(hours=1)
    began = time.perf_counter()
    cover = find_cover(assistant, row.asked, "en", since=since).cover
    seconds = time.perf_counter() - began
    before = is_covered_by_nearness(assistant, row.asked[0], since)
    Document.objects.filter(collection=new).update(created_at=now - timedelta(days=1))
    FAQ.objects.filter(collection=new).update(updated_at=now - timedelta(days=1))
    return {"now": cover is not None, "before": before, "seconds": seconds, "asked": row.asked[0]}


def is_covered_by_nearness(assistant: Assistant, question: str, since: datetime) -> bool:
    """Tell as before: an FAQ that steers, or the best document with evidence enough, that changed."""
    ask = build_question(assistant, question, "en")
    scope = build_scope(ask.collections)
    retrieval = retrieve_with(ask.profile, question, scope=scope, k=ask.profile.sources)
    near = match(retrieval.query, scope=scope, faqs=FAQS)
    sure = [each.faq_id for each in near if confidence(each.similarity) >= SURE]
    if FAQ.objects.filter(pk__in=sure, updated_at__gt=since).exists():
        return True
    candidates = load_candidates(retrieval.hits)
    evidence = {each.document_id: evidence_alone(question, retrieval, each) for each in reversed(candidates)}
    best = max(evidence, key=lambda document: evidence[document], default=0)
    is_new = Document.objects.filter(pk=best, created_at__gt=since).exists()
    return is_new and evidence[best] >= ask.profile.threshold


def nearness(rows: Sequence[Row]) -> dict[str, float]:
    """Return how near the middle of the questions is to the right page: what is further is not asked again at once."""
    found = []
    for row in rows:
        new = row.pages["right"]
        documents = list(Document.objects.filter(collection=new).values_list("pk", flat=True))
        faqs = list(FAQ.objects.filter(collection=new).values_list("pk", flat=True))
        middle = get_embedder().embed_questions(list(row.asked)).mean(axis=0, keepdims=True)
        middle /= np.linalg.norm(middle)
        vectors = read_vectors(Changes(documents, faqs, timezone.now()))
        found.append(float(vectors.similarities(middle)[0]))
    return {"least": min(found), "5 %": float(np.quantile(found, 0.05)), "median": float(np.median(found))}


def rates(found: Sequence[dict[str, Any]], rule: str) -> dict[str, float]:
    counts = Counter((each["side"], each[rule]) for each in found)
    said = counts["right", True] + counts["wrong", True]
    return {
        "precision": counts["right", True] / said if said else 1.0,
        "recall": counts["right", True] / (counts["right", True] + counts["right", False]),
        "right": counts["right", True],
        "wrong": counts["wrong", True],
    }


def report(results: dict[str, Any], found: Sequence[dict[str, Any]]) -> None:
    names = [f"{part}, {rule}" for part in PARTS for rule in ("before", "now")]
    cells = [
        [name, *(f"{results[name][each]:.3g}" for each in ("precision", "recall", "right", "wrong"))] for name in names
    ]
    table(["rows, rule", "precision", "recall", "answered: right", "wrong"], cells)
    say(f"\na check takes {results['seconds']}; nearness of right pages {results['nearness']}\n")
    for each in found:
        if each["part"] != "held_out" and each["now"] != (each["side"] == "right"):
            say(f"{each['side']}, {each['shape']}: {each['asked']}")
