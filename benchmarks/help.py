"""Counts cries for help that are recognised, by language and kind, and ordinary questions taken for one.

Reads `benchmarks/data/help_messages.jsonl`, written by somebody who did not see the examples that the classifier is
fitted to, and the questions of the data sets in a folder. Threshold, kernel and the choice of languages were settled
with all of these figures in sight, so they are those of a set that was tuned on, not of a hold-out.
"""

import json
import statistics
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.environment import ROOT
from benchmarks.measuring import say, table
from chat.pipeline.understanding.help_classifier import get_classifier, recognised_need
from chat.pipeline.understanding.help_examples import load_examples
from knowledge.retrieval.query_vectors import multilingual_vector

MESSAGES = ROOT / "benchmarks" / "data" / "help_messages.jsonl"
QUERIES = ("clinc150", "stackfaq-dev", "mtrag-dev", "cmu-handbooks")
ORDINARY = "ordinary"


def measure(data: Path | None) -> dict[str, Any]:
    known = {bare(each.text) for each in load_examples()}
    messages = [row for row in read(MESSAGES) if bare(row["text"]) not in known]
    results: dict[str, Any] = {
        "examples": len(load_examples()),
        "recall": recall(messages),
        "near_misses": alarms(row["text"] for row in messages if row["kind"] == ORDINARY),
        "score_ms": score_ms(messages[0]["text"]),
    }
    if data is None:
        say("Name the folder with the data sets, --data FOLDER, for alarms on ordinary questions.")
    else:
        results["ordinary"] = {
            name: alarms(row["text"] for row in read(data / name / "queries.jsonl")) for name in QUERIES
        }
        asked = read(data / "student-questions" / "questions.jsonl")
        results["ordinary"]["student-questions"] = alarms(row["text"] for row in asked if row["expect"] != "crisis")
    report(results)
    return results


def recall(messages: list[dict[str, str]]) -> dict[str, dict[str, float]]:
    """By language: messages, the share recognised, and of those the share given the right kind."""
    found = defaultdict(list)
    for row in messages:
        if row["kind"] != ORDINARY:
            found[row["language"]].append((row["kind"], recognised_need(row["text"])))
    found["other than en, de"] = [pair for name, pairs in found.items() if name not in ("en", "de") for pair in pairs]
    return {
        language: {
            "messages": len(pairs),
            "recall": round(sum(need is not None for _kind, need in pairs) / len(pairs), 3),
            "right_kind": round(sum(kind == need for kind, need in pairs) / sum(bool(need) for _, need in pairs), 3),
        }
        for language, pairs in found.items()
    }


def alarms(texts: Iterator[str]) -> dict[str, Any]:
    asked = list(texts)
    return {"questions": len(asked), "alarms": [text for text in asked if recognised_need(text)]}


def score_ms(text: str) -> float:
    """Return the classifier's own time, the vector at hand: the median of 200 runs."""
    classifier, vector, times = get_classifier(), multilingual_vector(text), []
    for _ in range(200):
        began = time.perf_counter()
        classifier.score(vector)
        times.append((time.perf_counter() - began) * 1000)
    return round(statistics.median(times), 3)


def bare(text: str) -> str:
    """Its letters and digits: a message that is an example, but for its spelling, measures nothing."""
    return "".join(each for each in text.casefold() if each.isalnum())


def read(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        yield from map(json.loads, file)


def report(results: dict[str, Any]) -> None:
    rows = [[name, each["messages"], each["recall"], each["right_kind"]] for name, each in results["recall"].items()]
    table(["language", "messages", "recall", "right kind"], rows)
    sets = {"near misses": results["near_misses"], **results.get("ordinary", {})}
    say("")
    table(
        ["ordinary", "questions", "alarms"], [[n, each["questions"], len(each["alarms"])] for n, each in sets.items()]
    )
    say(f"\n{results['examples']} examples; {results['score_ms']} ms a message besides its vector")
