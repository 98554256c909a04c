"""Counts false sentences that pass the check, and faithful ones, by kind, language and strictness.

`python -m benchmarks.claims FILE ...` judges any files of `benchmarks/data`. `--fit` fits the weights first and prints
what cross-validation by passage says of the sentences that the entailment model did not learn from; `--words` leaves
the vectors out.
"""

import argparse
import json
import re
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.environment import ROOT
from benchmarks.measuring import say, table

DATA = ROOT / "benchmarks" / "data"
#: The entailment model learned from the first two, the facts' weights from them too; both judges together are fitted to
#: the next two. Nobody who works on the check reads the last.
LEARNED_FROM = DATA / "claims_written.jsonl", DATA / "claims_judged.jsonl"
FITTED_TO, SEALED = (DATA / "claims_dev.jsonl", DATA / "claims_held_out.jsonl"), DATA / "claims_sealed.jsonl"
CURVE = (0.0, 0.02, 0.035, 0.05, 0.08, 0.12, 0.2, 0.3)


def measure(*paths: Path, words_only: bool = False, fit: bool = False) -> dict[str, Any]:
    from benchmarks.claims_fitting import ENTAILMENT
    from benchmarks.claims_fitting import fit as fit_weights
    from chat.pipeline.verification.classifier import Strictness
    from chat.pipeline.verification.verify import Meaning, Passage, examine, read_unit, verify
    from core.inference.entailment.model import get_entailment_model

    rows = [row for path in ((*paths, *LEARNED_FROM) if fit else paths) for row in read(path)]
    meaning = None if words_only else Meaning(remembered(), lru_cache(maxsize=None)(get_entailment_model().logit))
    if meaning is not None:
        warm_up(rows, meaning.embed)
    times, shown, scores, held = [], {}, None, None
    if fit:
        features = []
        for row in rows:
            passage = Passage(row["passage"], row["title"])
            checked = examine(row["sentence"], passage, meaning=meaning)
            assert checked, row["id"]
            entailment = 0.0 if meaning is None else meaning.entails(read_unit(checked, passage), row["sentence"])
            features.append(checked.comparison.features | {ENTAILMENT: entailment})
        is_unseen = np.arange(len(rows)) < sum(len(read(path)) for path in paths)
        fitted = fit_weights(rows, features, is_unseen, words_only=words_only)
        for judge, classifier in fitted.classifiers.items():
            classifier.save(judge.fitted)
        rows = [row for row, unseen in zip(rows, is_unseen, strict=True) if unseen]
        shown, scores = fitted.shown, fitted.scores
    else:
        for level in Strictness:
            verdicts = []
            for row in rows:
                passage = Passage(row["passage"], row["title"])
                began = time.perf_counter()
                verdicts.append(
                    verify(row["sentence"], [passage], language=row["language"], strictness=level, meaning=meaning)
                )
                times.append((time.perf_counter() - began) * 1000)
            shown[level] = np.array([each.is_supported for each in verdicts])
            held = held or holding(rows, verdicts)
        if meaning is not None:
            scores = np.array([score(row, meaning) for row in rows])
    results: dict[str, Any] = {
        "file": ", ".join(path.name for path in paths),
        "sentences": len(rows),
        "cross_validated": fit,
        "vectors": not words_only,
        # The first strictness asks each sentence for the first time; the others find what the models said.
        "ms": round(statistics.mean(times[: len(rows)]), 1) if times else None,
        "shown": {level.value: shares(rows, shown[level]) for level in Strictness},
        "curve": [] if scores is None else curve(rows, scores),
        "unit_holds_fact": held,
    }
    report(results)
    return results


def shares(rows: Sequence[dict[str, Any]], shown: "np.ndarray[Any, Any]") -> dict[str, float]:
    """Return the share of sentences shown as written, by kind; the faithful ones also by language and wording."""
    groups: dict[str, list[bool]] = {}
    for row, is_shown in zip(rows, shown, strict=True):
        names = [row["kind"]]
        if row["supported"]:
            crosses = row["language"] != row["passage_language"]
            names += [
                f"faithful, {row['language']}",
                "faithful, free wording" if row["free"] else "faithful, close wording",
            ]
            names += ["faithful, across languages"] if crosses else []
        else:
            names += [f"false, {row['language']}", "false, all"]
        for name in names:
            groups.setdefault(name, []).append(bool(is_shown))
    return {name: round(sum(group) / len(group), 3) for name, group in sorted(groups.items())}


def score(row: dict[str, Any], meaning: Any) -> float:
    """Return what facts and entailment model together give a sentence; 0 if something speaks against it that no score
    outweighs."""
    from chat.pipeline.verification.classifier import Judge, Strictness, get_classifier
    from chat.pipeline.verification.verify import Passage, examine, read_unit, verify

    text, passage = row["sentence"], Passage(row["passage"], row["title"])
    verdict = verify(text, [passage], strictness=Strictness.LENIENT, meaning=meaning)
    if verdict.score in (0.0, 1.0):  # a veto or a decision; the page's own words
        return verdict.score
    checked = examine(text, passage, meaning=meaning)
    assert checked
    entailment = meaning.entails(read_unit(checked, passage), text)
    return get_classifier(Judge.ENTAILMENT).score(checked.comparison.features | {"entailment": entailment})


def curve(rows: Sequence[dict[str, Any]], scores: "np.ndarray[Any, Any]") -> list[dict[str, float]]:
    """Return, for shares of false sentences shown, the share of faithful ones shown at the same threshold."""
    supported = np.array([row["supported"] for row in rows])
    points = []
    for share in CURVE:
        least = float(np.quantile(scores[~supported], 1 - share))
        points.append(
            {
                "threshold": round(least, 3),
                "false": round(float((scores[~supported] > least).mean()), 3),
                "faithful": round(float((scores[supported] > least).mean()), 3),
            }
        )
    return points


def holding(rows: Sequence[dict[str, Any]], verdicts: Sequence[Any]) -> dict[str, float]:
    """Return for how many faithful sentences the aligned words hold the fact, and for how many the answer does.

    An answer holds it if the sentence is shown as written, or if the words that are quoted in its place hold it.
    """
    pairs = [
        (verdict.is_supported, holds_fact(verdict.unit, row["fact"]))
        for row, verdict in zip(rows, verdicts, strict=True)
        if row["supported"] and row["fact"]
    ]
    total = max(len(pairs), 1)
    return {
        "aligned words": round(sum(held for _shown, held in pairs) / total, 3),
        "answer": round(sum(shown or held for shown, held in pairs) / total, 3),
    }


def holds_fact(unit: str, fact: str) -> bool:
    """Return whether the words of a page have the words of a fact; of a table's row they have each cell."""
    from chat.pipeline.verification.units import as_sentence

    shown = bare(as_sentence(unit))
    return all(bare(as_sentence(cell)) in shown for cell in fact.split("|"))


def bare(text: str) -> str:
    return re.sub(r"\W+", " ", text).lower().strip()


def remembered() -> Callable[[Sequence[str]], "np.ndarray[Any, Any]"]:
    """Return the built-in multilingual model, which computes the vector of each text once."""
    from knowledge.retrieval.query_vectors import multilingual_vectors

    known: dict[str, Any] = {}

    def embed(texts: Sequence[str]) -> "np.ndarray[Any, Any]":
        new = sorted({text for text in texts if text not in known}, key=len)
        for start in range(0, len(new), 8):
            known.update(zip(new[start : start + 8], multilingual_vectors(new[start : start + 8]), strict=True))
        return np.stack([known[text] for text in texts])

    return embed


def warm_up(rows: Iterable[dict[str, Any]], embed: Callable[[Sequence[str]], Any]) -> None:
    """Compute the units' vectors, which the product has while the model still writes."""
    from chat.pipeline.verification.alignment import make_candidates
    from chat.pipeline.verification.units import split_units

    for title, passage in dict.fromkeys((row["title"], row["passage"]) for row in rows):
        embed([each.text for each in make_candidates(split_units(passage, title))])


def read(path: Path) -> list[dict[str, Any]]:
    """Return a file's sentences, each with its passage; a line may have several of one passage."""
    with path.open(encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    rows = []
    for line in lines:
        sentences = line.pop("sentences", None)
        rows += (
            [line]
            if sentences is None
            else [line | each | {"id": f"{line['id']}/{place}"} for place, each in enumerate(sentences)]
        )
    return rows


def report(results: dict[str, Any]) -> None:
    levels = list(results["shown"])
    names = list(results["shown"][levels[0]])
    table(
        ["shown as written", *levels], [[name, *(results["shown"][level][name] for level in levels)] for name in names]
    )
    if results["curve"]:
        say("")
        table(["threshold", "false shown", "faithful shown"], [list(point.values()) for point in results["curve"]])
    taken = f"; {results['ms']} ms each" if results["ms"] else ""
    say(f"\n{results['sentences']} sentences of {results['file']}{taken}")
    if results["unit_holds_fact"] is not None:
        held = results["unit_holds_fact"]
        say(f"The aligned words hold the fact of {held['aligned words']} of the faithful sentences,")
        say(f"the answer, written or quoted, of {held['answer']}.")


def configure() -> None:
    """Set what the built-in models need: the check has no database."""
    from django.conf import settings

    if not settings.configured:
        settings.configure(
            STATE_DIR=ROOT / "var", EMBEDDING_THREADS=1, EMBEDDING_MODEL="all-MiniLM-L6-v2+multilingual-e5-small"
        )


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.claims", description=__doc__)
    parser.add_argument("files", type=Path, nargs="*", default=FITTED_TO)
    parser.add_argument("--fit", action="store_true", help="fit the weights first, and cross-validate by passage")
    parser.add_argument("--words", action="store_true", help="leave the vectors out")
    arguments = parser.parse_args()
    configure()
    measure(*arguments.files, words_only=arguments.words, fit=arguments.fit)
    return 0


if __name__ == "__main__":
    sys.exit(main())
