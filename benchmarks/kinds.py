"""Measures how well kinds of messages are recognised, and how many questions are lost to small talk.

The examples are measured by cross-validation: the classifier is fitted without a fifth of them, and asked for that
fifth. The questions of the data sets in a folder were in sight when kernel and threshold were chosen, so theirs are the
figures of a set that was tuned on. Nobody wrote an example after one of them.
"""

import statistics
import time
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.environment import ROOT
from benchmarks.help import read
from benchmarks.measuring import say, table
from chat.models import ORDINARY, Kind
from chat.pipeline.understanding.help_classifier import recognised_need
from chat.pipeline.understanding.help_examples import Example, load_examples
from chat.pipeline.understanding.kind_classifier import get_classifier, load_kind_examples
from chat.pipeline.understanding.kind_fitting import derive_ordinary, fit_kinds
from core.terms import topic_words
from knowledge.retrieval.query_vectors import multilingual_vectors

if TYPE_CHECKING:
    from numpy.typing import NDArray

FOLDS = 5
QUERIES = ("mtrag-dev", "stackfaq-dev", "cmu-handbooks")
DEMO = ROOT / "marcelcms" / "demo"
HELP = ROOT / "benchmarks" / "data" / "help_messages.jsonl"
#: 300 messages by a hand that saw neither examples nor product; nothing was chosen by single ones of them.
WRITTEN = ROOT / "benchmarks" / "data" / "kind_messages.jsonl"
#: What `student-questions` expects of a message that is no question, and the kinds that are right.
RIGHT = {"smalltalk": set(Kind) - {Kind.PERSON}, "person": {Kind.PERSON}}


def measure(data: Path | None) -> dict[str, Any]:
    vectors = Vectors()
    examples = load_kind_examples()
    found = cross_validate(examples, vectors)
    cries = {each.text for each in load_examples() if each.kind != ORDINARY}
    asked = [each for each in examples if each.kind == ORDINARY and each.text not in cries]
    needy = [each for each in examples if each.text in cries]
    pages = [topic_words(path.read_text("utf-8")) for path in sorted((DEMO / "pages").glob("*.md"))]
    results: dict[str, Any] = {
        "examples": len(examples),
        "support_vectors": len(get_classifier().support),
        "kinds": by_kind(examples, found),
        "written": recognised_of(read(WRITTEN), vectors),
        "score_ms": score_ms(vectors),
        "lost": {
            "ordinary examples, cross-validated": lost(asked, [found[each] for each in asked]),
            "cries for help, cross-validated": lost(needy, [found[each] for each in needy]),
            "demo": lost_of((row["text"] for row in read(DEMO / "questions.jsonl")), vectors),
            "demo, single words": lost_of({word for words in pages for word in words}, vectors),
            "demo, two words": lost_of(
                {" ".join(words[at : at + 2]) for words in pages for at in range(len(words) - 1)}, vectors
            ),
            "cries for help that were missed": lost_of(missed_cries(), vectors),
        },
    }
    if data is None:
        say("Name the folder with the data sets, --data FOLDER, for questions that are lost there.")
    else:
        for name in QUERIES:
            results["lost"][name] = lost_of((row["text"] for row in read(data / name / "queries.jsonl")), vectors)
        rows = list(read(data / "student-questions" / "questions.jsonl"))
        questions = (row["text"] for row in rows if row["expect"] in ("answer", "clarify"))
        results["lost"]["student-questions"] = lost_of(questions, vectors)
        results["student_questions"] = [
            {"text": row["text"], "expect": row["expect"], "kind": kind, "right": kind in RIGHT[row["expect"]]}
            for row in rows
            if row["expect"] in RIGHT
            for kind in [vectors.kind(row["text"])]
        ]
    report(results)
    return results


class Vectors:
    """Vectors of messages, each made once: every fold needs nearly all of them."""

    def __init__(self) -> None:
        self._known: dict[str, NDArray[np.float32]] = {}

    def __call__(self, texts: list[str]) -> "NDArray[np.float32]":
        new = sorted(set(texts) - self._known.keys())
        if new:
            self._known |= zip(new, multilingual_vectors(new), strict=True)
        return np.array([self._known[text] for text in texts])

    def kind(self, text: str) -> str | None:
        """Return what the classifier that is in use takes a message for."""
        return get_classifier().recognise(self([text])[0])


def cross_validate(examples: tuple[Example, ...], vectors: Vectors) -> dict[Example, str | None]:
    """Return what each example is taken for by a classifier that was fitted without it."""
    fold = np.random.default_rng(0).integers(FOLDS, size=len(examples))
    found = {}
    for held_out in range(FOLDS):
        known = [each for each, its in zip(examples, fold, strict=True) if its != held_out]
        classifier = fit_kinds((*known, *derive_ordinary(known)), vectors)
        for each, its in zip(examples, fold, strict=True):
            if its == held_out:
                found[each] = classifier.recognise(vectors([each.text])[0])
    return found


def by_kind(examples: tuple[Example, ...], found: dict[Example, str | None]) -> dict[str, dict[str, float]]:
    """Return recall and precision by kind; `answered` is the share that is taken for any kind."""
    taken = defaultdict(list)
    for each in examples:
        taken[found[each]].append(each.kind)
    result = {}
    for kind in Kind:
        ours = [found[each] for each in examples if each.kind == kind]
        result[kind.value] = {
            "examples": len(ours),
            "recall": round(ours.count(kind) / len(ours), 3),
            "answered": round(sum(each is not None for each in ours) / len(ours), 3),
            "precision": round(taken[kind].count(kind) / len(taken[kind]), 3),
        }
    return result


def recognised_of(rows: Iterable[dict[str, str]], vectors: Vectors) -> dict[str, dict[str, int]]:
    """Return by kind how many messages there are, are recognised as it, and are taken for any kind."""
    result: dict[str, dict[str, int]] = {}
    for row in rows:
        taken = vectors.kind(row["text"])
        counts = result.setdefault(row["kind"], {"messages": 0, "recognised": 0, "answered": 0})
        counts["messages"] += 1
        counts["recognised"] += taken == row["kind"]
        counts["answered"] += taken is not None
    return result


def missed_cries() -> list[str]:
    """Return the cries for help that are not recognised as such: whatever they get must not be a joke."""
    return [row["text"] for row in read(HELP) if row["kind"] != ORDINARY and recognised_need(row["text"]) is None]


def lost_of(texts: Iterable[str], vectors: Vectors) -> dict[str, Any]:
    asked = sorted(set(texts))
    vectors(asked)
    return lost(asked, [vectors.kind(text) for text in asked])


def lost(asked: list[Any], kinds: list[str | None]) -> dict[str, Any]:
    wrong = [f"{kind}: {getattr(each, 'text', each)}" for each, kind in zip(asked, kinds, strict=True) if kind]
    return {
        "questions": len(asked),
        "lost": len(wrong),
        "share": round(len(wrong) / max(len(asked), 1), 4),
        "which": wrong,
    }


def score_ms(vectors: Vectors) -> float:
    """Return the classifier's own time, the vector at hand: the median of 200 runs."""
    classifier, vector, times = get_classifier(), vectors(["When does the library open?"])[0], []
    for _ in range(200):
        began = time.perf_counter()
        classifier.recognise(vector)
        times.append((time.perf_counter() - began) * 1000)
    return round(statistics.median(times), 3)


def report(results: dict[str, Any]) -> None:
    head = ["kind", "examples", "recall", "answered", "precision"]
    table(head, [[kind, *(each[name] for name in head[1:])] for kind, each in results["kinds"].items()])
    say("")
    head = ["written by others", "messages", "recognised", "answered"]
    table(head, [[kind, *(each[name] for name in head[1:])] for kind, each in results["written"].items()])
    say("")
    rows = [[name, each["questions"], each["lost"], each["share"]] for name, each in results["lost"].items()]
    table(["questions", "number", "lost", "share"], rows)
    if expected := results.get("student_questions"):
        say("")
        table(["student-questions", "expected", "taken for"], [[r["text"], r["expect"], r["kind"]] for r in expected])
    say(
        f"\n{results['examples']} examples, {results['support_vectors']} support vectors; "
        f"{results['score_ms']} ms a message besides its vector"
    )
