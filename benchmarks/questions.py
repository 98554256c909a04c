"""The demo's questions, answered without a language model: is the right page found and quoted, and is a question that
no page answers recognised? The threshold of `chat.pipeline.retrieval.search` is set on these."""

import json
from pathlib import Path
from typing import Any

import numpy as np
from asgiref.sync import async_to_sync
from django.core.management import call_command

from benchmarks.environment import ROOT
from benchmarks.measuring import say

QUESTIONS = ROOT / "marcelcms" / "demo" / "questions.jsonl"
THRESHOLDS = (0.30, 0.34, 0.38, 0.42, 0.46, 0.50, 0.54)


def measure() -> dict[str, Any]:
    call_command("load_demo", verbosity=0)
    asked = [each | ask(each["text"]) for each in read(QUESTIONS)]
    answerable = [each for each in asked if each["answerable"]]
    shares = {
        "right page first": share(each["found"][:1] and each["found"][0] in each["urls"] for each in answerable),
        "right page among the first 3": share(set(each["found"][:3]) & set(each["urls"]) for each in answerable),
        "right page quoted": share(set(each["quoted"]) & set(each["urls"]) for each in answerable),
    }
    known = np.array([each["evidence"] for each in answerable])
    unknown = np.array([each["evidence"] for each in asked if not each["answerable"]])
    pairs = known[:, None] - unknown[None, :]
    auroc = float(((pairs > 0) + 0.5 * (pairs == 0)).mean())
    say(f"{len(answerable)} questions that a page answers, {len(unknown)} that none does\n")
    for name, value in shares.items():
        say(f"{name:30} {value:.2f}")
    say(f"{'AUROC of the evidence':30} {auroc:.3f}\n")
    say("| threshold | answered of answerable | abstained of unanswerable |")
    say("| ---: | ---: | ---: |")
    curve = []
    for threshold in THRESHOLDS:
        kept, refused = float((known >= threshold).mean()), float((unknown < threshold).mean())
        curve.append({"threshold": threshold, "answered": round(kept, 3), "abstained": round(refused, 3)})
        say(f"| {threshold:.2f} | {kept:.2f} | {refused:.2f} |")
    return {"questions": len(asked), **shares, "auroc": round(auroc, 3), "curve": curve}


def ask(text: str) -> dict[str, Any]:
    """Return the pages found and quoted, best first, and the evidence."""
    from chat.pipeline.answering.extract import compose_quotes
    from chat.pipeline.question import Question
    from chat.pipeline.retrieval.search import retrieve
    from chat.pipeline.understanding.route import understand

    context = async_to_sync(understand)(Question(text=text))
    async_to_sync(retrieve)(context)
    return {
        "found": list(dict.fromkeys(candidate.url for candidate in context.candidates)),
        "quoted": [piece.candidate.url for piece in compose_quotes(context)],
        "evidence": context.evidence,
    }


def share(outcomes: Any) -> float:
    values = [bool(outcome) for outcome in outcomes]
    return round(sum(values) / len(values), 3)


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]
