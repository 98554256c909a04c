"""Counts planted contradictions that are found, and what is found without any planted, and times both.

Texts: the demo's pages, `cmu-handbooks` and `mtrag-dev`, a collection and an assistant each, with synthetic pages up to
`PAGES`. What is found in the text as it is goes to `benchmarks/out/contradictions_found.jsonl`, to be read and judged;
verdicts of a person are in `benchmarks/data/contradictions_read.jsonl`.
"""

import json
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from django.db import transaction

from analytics.contradictions.run import compare_all, compare_these
from analytics.models import Contradiction
from benchmarks.contradictions_planting import WANTED, Original, Planted, plant
from benchmarks.corpus import DEMO
from benchmarks.environment import ROOT
from benchmarks.loading import Loader
from benchmarks.measuring import say, table
from chat.models import Assistant
from core.hashing import fingerprint
from core.inference.embeddings import get_embedder
from knowledge.chunking.chunker import cut
from knowledge.chunking.sentences import in_context, sentence_spans
from knowledge.indexing.generations import live_generation
from knowledge.models import Collection, Document, Passage

DATASETS = ("cmu-handbooks", "mtrag-dev")
#: Pages in all, real and synthetic.
PAGES = 2_500
SYNTHETIC_EMBEDDED = 25
#: How many of what is found in the text as it is are written down to be read.
READ = 50
FOUND, VERDICTS = (
    ROOT / "benchmarks" / "out" / "contradictions_found.jsonl",
    ROOT / "benchmarks" / "data" / "contradictions_read.jsonl",
)
#: Pages compared one by one, half of them planted.
EDITS = 40
TOKENS, CHARACTERS_A_TOKEN = 256, 4


@dataclass(frozen=True, slots=True)
class Page:
    name: str
    dataset: str
    title: str
    language: str
    text: str


def measure(folder: Path, data: Path | None, *, quick: bool = False) -> dict[str, Any]:
    if data is None:
        say("Name the folder with the data sets: --data FOLDER, which holds " + ", ".join(DATASETS) + ".")
        return {}
    pages = list(read_demo()) if quick else [*read_demo(), *read_datasets(data)]
    planted = plant([each for number, page in enumerate(pages) for each in originals(number, page)])
    new_pages = [
        Page(f"planted-{number}", pages[each.original.page].dataset, each.title, each.original.language, each.body)
        for number, each in enumerate(planted)
    ]
    collections = {name: make_place(name) for name in dict.fromkeys(page.dataset for page in pages)}
    ids = add_pages(pages, collections)
    if not quick:
        synthetic = Loader(folder, embedded=SYNTHETIC_EMBEDDED)
        synthetic.grow(max(PAGES - len(pages) - len(planted), 1))
    results: dict[str, Any] = {"pages": Document.objects.count(), "passages": Passage.objects.count()}
    results["as_it_is"] = compare_as_it_is()
    planted_ids = add_pages(new_pages, collections)
    started, worked = time.perf_counter(), time.process_time()
    compare_all()
    results["seconds"] = round(time.perf_counter() - started, 1)
    results["processor_seconds"] = round(time.process_time() - worked, 1)
    results["recall"] = recall(planted, planted_ids, ids)
    results["edits"] = edits([*planted_ids.values()][: EDITS // 2] + [*ids.values()][: EDITS // 2])
    report(results)
    return results


def read_demo() -> Iterator[Page]:
    for path in sorted((DEMO / "pages").glob("*.md")):
        head, _, body = path.read_text("utf-8").partition("\n\n")
        fields = dict(line.split(": ", 1) for line in head.splitlines())
        yield Page(path.stem, "demo", fields["Title"], fields["Language"], body)


def read_datasets(data: Path) -> Iterator[Page]:
    for name in DATASETS:
        for line in (data / name / "corpus.jsonl").read_text("utf-8").splitlines():
            row = json.loads(line)
            yield Page(row["_id"], name, row["title"], "en", row["text"])


def originals(number: int, page: Page) -> Iterator[Original]:
    """Yield the sentences of a page that may be planted elsewhere."""
    text = page.text.replace("<sep>", " \n\n ")
    for start, end in sentence_spans(text):
        sentence = " ".join(text[start:end].split())
        if sentence[:1].isupper() and "|" not in sentence and "](" not in sentence:
            yield Original(number, sentence, page.language)


def make_place(name: str) -> Collection:
    """Make a collection that one assistant searches alone."""
    collection = Collection.objects.create(slug=name, name=name, searched_by_default=False)
    Assistant.objects.create(slug=name, name=name, institution=name).collections.add(collection)
    return collection


def add_pages(pages: Sequence[Page], collections: dict[str, Collection]) -> dict[int, int]:
    """Save pages with their passages, as indexing would; return the document's id of each."""
    generation, embedder = live_generation(), get_embedder()
    with transaction.atomic():
        documents = Document.objects.bulk_create(
            Document(
                collection=collections[page.dataset],
                url=f"https://bench.example/{page.dataset}/{page.name}"[:2000],
                title=page.title[:500],
                language=page.language,
                text=page.text,
                content_hash=fingerprint(page.title, page.text),
                state_hash=fingerprint(page.text),
            )
            for page in pages
        )
        chunks = [
            (document, chunk)
            for document, page in zip(documents, pages, strict=True)
            for chunk in cut(page.text, limit=TOKENS, measure=lambda text: len(text) // CHARACTERS_A_TOKEN + 1)
        ]
        vectors = embedder.embed(
            [in_context(document.title, chunk.heading_path, chunk.text) for document, chunk in chunks]
        )
        Passage.objects.bulk_create(
            (
                Passage(
                    generation=generation,
                    document=document,
                    position=chunk.position,
                    heading_path=list(chunk.heading_path),
                    text=chunk.text,
                    input_hash=fingerprint(chunk.text),
                    embedding=np.asarray(vector),
                )
                for (document, chunk), vector in zip(chunks, vectors, strict=True)
            ),
            batch_size=500,
        )
    return {number: document.pk for number, document in enumerate(documents)}


def compare_as_it_is() -> dict[str, Any]:
    """Compare the text as it is; write down what is found first, and count the verdicts on it."""
    started = time.perf_counter()
    compare_all()
    seconds = round(time.perf_counter() - started, 1)
    verdicts = {}
    if VERDICTS.exists():
        rows = map(json.loads, VERDICTS.read_text("utf-8").splitlines())
        verdicts = {frozenset((row["first"], row["second"])): row["contradicts"] for row in rows}
    first = Contradiction.objects.open().for_list()[:READ]
    FOUND.parent.mkdir(parents=True, exist_ok=True)
    with FOUND.open("w", encoding="utf-8") as file:
        for each in first:
            row = {
                "kind": each.kind,
                "first": each.first_text,
                "second": each.second_text,
                "words": [each.first_words, each.second_words],
            }
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
    judged = [verdicts[key] for each in first if (key := frozenset((each.first_text, each.second_text))) in verdicts]
    return {
        "seconds": seconds,
        "found": Contradiction.objects.open().count(),
        "read": len(judged),
        "right": sum(judged),
    }


def recall(planted: Sequence[Planted], new: dict[int, int], old: dict[int, int]) -> dict[str, Any]:
    """Return how many planted sentences are found beside the page that they come from, by kind and by frame."""
    pairs = {frozenset(pair) for pair in Contradiction.objects.open().values_list("first_document", "second_document")}
    counts, hits = Counter(each.kind for each in planted), Counter[str]()
    framed, framed_hits = sum(each.framed for each in planted), 0
    for number, each in enumerate(planted):
        if frozenset((new[number], old[each.original.page])) in pairs:
            hits[each.kind] += 1
            framed_hits += each.framed
    rows = {
        kind: {"planted": counts[kind], "found": hits[kind], "recall": round(hits[kind] / max(counts[kind], 1), 3)}
        for kind in WANTED
    }
    return rows | {
        "worded anew": {"planted": framed, "found": framed_hits, "recall": round(framed_hits / max(framed, 1), 3)}
    }


def edits(documents: Sequence[int]) -> dict[str, Any]:
    """Compare these pages one by one, as after an edit that changes nothing.

    Return the median of the seconds, and how many rows came or went though the night had just compared all.
    """
    before = set(Contradiction.objects.open().values_list("pk", flat=True))
    seconds = []
    for pk in documents:
        started = time.perf_counter()
        compare_these(documents=[pk], faqs=[])
        seconds.append(time.perf_counter() - started)
    after = set(Contradiction.objects.open().values_list("pk", flat=True))
    of_these = Contradiction.objects.of(documents=list(documents), faqs=[]).count()
    return {"seconds": round(median(seconds), 2), "rows": of_these, "changed": len(before ^ after)}


def report(results: dict[str, Any]) -> None:
    table(("planted", "pages", "found", "recall"), ([kind, *row.values()] for kind, row in results["recall"].items()))
    found = results["as_it_is"]
    say(
        f"\n{results['pages']:,} pages, {results['passages']:,} passages: {found['seconds']} s without what is planted,"
    )
    say(f"{results['seconds']} s with it, {results['processor_seconds']} s of one core in Python;")
    each = results["edits"]
    say(f"an edit {each['seconds']} s; of {each['rows']} rows of the edited pages {each['changed']} came or went.")
    say(f"In the text as it is {found['found']} found; of {found['read']} that were read, {found['right']} are right.")
