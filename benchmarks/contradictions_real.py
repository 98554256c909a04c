"""Counts, among the first contradictions found in real pages that nobody planted any in, those that are some.

Pages: clones of the repositories in `contradictions_sources` in the folder of `--data`, each a collection with an
assistant of its own; those that the rules were made with are compared apart from the others. What is found goes to
`benchmarks/out/contradictions_real.jsonl`, to be read; `benchmarks/data/contradictions_judged.jsonl` has what readers
said, by fingerprints, since the texts are not ours.
"""

import json
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from django.core.management import call_command

from analytics.contradictions.run import compare_all
from analytics.models import Contradiction
from benchmarks.contradictions import READ, add_pages, make_place
from benchmarks.contradictions_sources import REPOSITORIES, Repository, read_pages
from benchmarks.environment import ROOT
from benchmarks.measuring import say, table
from core.hashing import fingerprint
from knowledge.models import Document, Passage

FOUND, JUDGED = (
    ROOT / "benchmarks" / "out" / "contradictions_real.jsonl",
    ROOT / "benchmarks" / "data" / "contradictions_judged.jsonl",
)
REAL = "real"


def measure(data: Path | None) -> dict[str, Any]:
    if data is None:
        say("Name the folder with the clones: --data FOLDER; `benchmarks/contradictions_sources.py` lists them.")
        return {}
    FOUND.parent.mkdir(parents=True, exist_ok=True)
    FOUND.write_text("")
    results = {}
    for name, built_on in (("built on", True), ("others", False)):
        call_command("flush", verbosity=0, interactive=False)
        chosen = [each for each in REPOSITORIES if each.built_on == built_on]
        say(f"\n{name}\n")
        results[name] = compare(data, chosen)
    return results


def compare(data: Path, repositories: Sequence[Repository]) -> dict[str, Any]:
    """Compare the pages of these repositories, and report what is found of each and how much of it is right."""
    for repository in repositories:
        add_pages(list(read_pages(data, repository)), {repository.short: make_place(repository.short)})
    started = time.perf_counter()
    compare_all()
    seconds = round(time.perf_counter() - started, 1)
    rows = [describe(each) for each in Contradiction.objects.open().for_list()]
    with FOUND.open("a", encoding="utf-8") as file:
        file.writelines(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
    said = read_verdicts()
    verdicts = Counter(said.get(row["mark"], "not read") for row in rows[:READ])
    judged = verdicts.total() - verdicts["not read"]
    results: dict[str, Any] = {
        "pages": Document.objects.count(),
        "passages": Passage.objects.count(),
        "seconds": seconds,
        "found": len(rows),
        "first": dict(verdicts),
        "precision": round(verdicts[REAL] / judged, 2) if judged else None,
        "of": list(by_repository(repositories, rows, said)),
    }
    table(("repository", "pages", "found", "in the first", "of them real"), results["of"])
    say(f"\n{results['pages']:,} pages, {results['passages']:,} passages, {seconds} s; {len(rows)} found.")
    first = min(READ, len(rows))
    say(f"Of the first {first}: {dict(verdicts)}; of those that were read, {results['precision']} are real.")
    return results


def describe(row: Contradiction) -> dict[str, Any]:
    """Return what a reader needs to judge a row, and the mark that the verdict is kept under."""
    sides = (
        (row.first_document, row.first_heading, row.first_text, row.first_words),
        (
            row.second_document,
            row.second_heading,
            row.second_text,
            row.second_words,
        ),
    )
    return {
        "mark": fingerprint(*sorted((row.first_text, row.second_text))),
        "kind": row.kind,
        "score": round(row.score, 3),
        "sides": [
            {"url": page.url if page else "", "title": page.title if page else "", "heading": heading}
            | {"text": text, "words": words}
            for page, heading, text, words in sides
        ],
    }


def read_verdicts() -> dict[str, str]:
    if not JUDGED.exists():
        return {}
    return {row["mark"]: row["verdict"] for row in map(json.loads, JUDGED.read_text("utf-8").splitlines())}


def by_repository(
    repositories: Sequence[Repository], rows: Sequence[dict[str, Any]], said: dict[str, str]
) -> Iterator[tuple[str, int, int, int, int]]:
    """Yield each repository with its pages, its rows, and how many of them are among the first and are real there."""
    for repository in repositories:
        place = f"/{repository.short}/"
        own = [row for row in rows if place in row["sides"][0]["url"]]
        first = [row for row in rows[:READ] if place in row["sides"][0]["url"]]
        pages = Document.objects.filter(collection__slug=repository.short).count()
        yield repository.name, pages, len(own), len(first), sum(said.get(row["mark"]) == REAL for row in first)
