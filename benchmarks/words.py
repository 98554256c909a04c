"""Measures what reading the words of a question brings: each step off and on, and what slips of spelling cost.

The questions of `data/words.jsonl` are asked of the demo university's pages in other words than the pages have; a page
is right if it is one of those named with the question. They were written by the hand that wrote the synonyms, so the
figure of that step says that it works, not how much students gain. Slips are seeded in the questions of the data sets
in a folder.
"""

import json
import random
import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from django.core.management import call_command

from analytics.evaluation.datasets import load, read_dataset
from analytics.evaluation.runner import ask
from analytics.models import EvaluationQuestion, EvaluationSet
from benchmarks.environment import ROOT
from benchmarks.measuring import percentiles, say, table
from chat.pipeline.retrieval.profiles import PROFILES, Profile, retrieve_with
from knowledge.models import Document
from knowledge.retrieval.scope import build_scope
from knowledge.retrieval.types import Scope
from knowledge.words.readings import Step

QUESTIONS = ROOT / "benchmarks" / "data" / "words.jsonl"
DATASETS = ("mtrag-dev", "stackfaq-dev")
ALL = frozenset(Step)
#: Steps that run, by the name of the row.
ROWS: dict[str, AbstractSet[Step]] = {
    "none": frozenset(),
    **{f"{step} alone": frozenset({step}) for step in Step},
    **{f"all but {step}": ALL - {step} for step in Step},
    "all": ALL,
}
#: Depth of a ranking, in passages: several may be of one page.
PASSAGES = 20
#: One word in so many has a slip, if it has at least so many letters.
EVERY, LETTERS = 3, 4
WORD = re.compile(r"[^\W\d_]+")
ALPHABET = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with the addresses of the pages that answer it."""

    text: str
    urls: frozenset[str]


def measure(data: Path | None) -> dict[str, Any]:
    call_command("load_demo", verbosity=0)
    rows = [json.loads(line) for line in QUESTIONS.read_text("utf-8").splitlines()]
    asked = [Asked(row["text"], frozenset(row["urls"])) for row in rows]
    say(f"{len(asked)} questions in other words than the pages, default and words alone (bm25)\n")
    results: dict[str, Any] = {"questions": len(asked), "steps": {}}
    cells = []
    for name, steps in ROWS.items():
        found = {profile: find(asked, read_with(PROFILES[profile], steps)) for profile in ("default", "bm25")}
        results["steps"][name] = found
        cells.append(
            [name, *(value for each in found.values() for value in (each["hit@1"], each["hit@3"])), *times(found)]
        )
    table(["steps", "hit@1", "hit@3", "bm25 hit@1", "hit@3", "words p50 / p95, ms", "search p50 / p95, ms"], cells)
    if data is None:
        say("\nFor slips of spelling name the folder with the data sets: --data FOLDER, which holds mtrag-dev ...")
        return results
    results["slips"] = {name: slips(load(read_dataset(data / name))) for name in DATASETS}
    say()
    head = ["data set", "as asked", "slips, spelling off", "slips, spelling on", "lost off", "lost on"]
    table(head, [[name, *(f"{value:.3f}" for value in each.values())] for name, each in results["slips"].items()])
    return results


def read_with(profile: Profile, steps: AbstractSet[Step]) -> Profile:
    return replace(profile, plan=replace(profile.plan, word_steps=steps))


def find(asked: Sequence[Asked], profile: Profile) -> dict[str, Any]:
    """Return how many questions have a right page first or among the first three, and milliseconds of both steps."""
    scope = build_scope(["lindental"])
    urls = dict(Document.objects.values_list("pk", "url"))
    first = third = 0
    spent: dict[str, list[float]] = {"words": [], "lexical": []}
    for question in asked:
        retrieval = retrieve_with(profile, question.text, scope=scope, k=PASSAGES)
        pages = list(dict.fromkeys(urls[hit.document_id] for hit in retrieval.hits))
        first += not question.urls.isdisjoint(pages[:1])
        third += not question.urls.isdisjoint(pages[:3])
        for step, values in spent.items():
            values.append(retrieval.timings_ms.get(step, 0.0))
    return {"hit@1": first, "hit@3": third, "ms": {step: percentiles(values) for step, values in spent.items()}}


def times(found: dict[str, Any]) -> list[str]:
    """Return the times of words alone, where nothing else runs beside."""
    return [f"{each['p50']:.2f} / {each['p95']:.2f}" for each in found["bm25"]["ms"].values()]


def slips(evaluation_set: EvaluationSet) -> dict[str, float]:
    """Return the MRR of questions as they were asked, with slips, and what they cost without and with spelling."""
    scope = Scope(tuple(evaluation_set.collections.values_list("pk", flat=True)))
    questions = list(evaluation_set.questions.filter(judgments__grade__gt=0).distinct().order_by("pk"))
    default = PROFILES["default"]
    without = read_with(default, ALL - {Step.SPELLING})
    random_ = random.Random(20260711)
    slipped = [slip(question.text, random_) for question in questions]
    clean = mean_reciprocal_rank(questions, [question.text for question in questions], default, scope)
    off = mean_reciprocal_rank(questions, slipped, without, scope)
    on = mean_reciprocal_rank(questions, slipped, default, scope)
    return {"clean": clean, "off": off, "on": on, "lost off": clean - off, "lost on": clean - on}


def mean_reciprocal_rank(
    questions: Sequence[EvaluationQuestion], texts: Sequence[str], profile: Profile, scope: Scope
) -> float:
    total = 0.0
    for question, text in zip(questions, texts, strict=True):
        right = set(question.judgments.filter(grade__gt=0).values_list("document", flat=True))
        found = ask(profile, text, scope, question.history).documents
        total += next((1 / rank for rank, document in enumerate(found, start=1) if document in right), 0.0)
    return total / len(questions)


def slip(text: str, random_: random.Random) -> str:
    """Return a text with a slip in every third of its longer words, never in the first letter."""
    number = 0

    def change(match: re.Match[str]) -> str:
        nonlocal number
        word = match[0]
        if len(word) < LETTERS:
            return word
        number += 1
        if number % EVERY:
            return word
        at = random_.randrange(1, len(word) - 1)
        letter = random_.choice(ALPHABET)
        ways = (
            word[:at] + word[at + 1 :],
            word[:at] + letter + word[at:],
            word[:at] + letter + word[at + 1 :],
            word[:at] + word[at + 1] + word[at] + word[at + 2 :],
        )
        return random_.choice(ways)

    return WORD.sub(change, text)
