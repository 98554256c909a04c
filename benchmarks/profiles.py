"""Every retrieval profile on every data set of a folder: measures, evidence, time, and which differences are no chance.

Profiles that rerank run with a cross-encoder that only counts shared words (`tests/knowledge/rerankers.py`): none with
weights ships as a package. Those that need a language model run where LLM_BASE_URL names one.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command

from analytics.evaluation.comparison import compare
from analytics.evaluation.datasets import load, read_dataset
from analytics.evaluation.reporting import table_lines
from analytics.evaluation.runner import run
from analytics.models import EvaluationRun, EvaluationSet
from benchmarks.measuring import say
from chat.pipeline.retrieval.profiles import PROFILES, Profile
from core.inference.llm import client
from knowledge.indexing.documents import sync_pending
from knowledge.retrieval.types import Origin
from tests.knowledge.rerankers import overlap_reranker

DATASETS = ("stackfaq-dev", "mtrag-dev", "clinc150")
#: The paper's claims, and ours: (the claim, without, with).
CLAIMS = (
    ("FAQ steering over words and meanings", "bm25+dense", "bm25+faq"),
    ("ours over Marcel's FAQ retriever", "bm25+faq", "default"),
    ("ours over words", "bm25", "default"),
    ("ours over meanings", "dense", "default"),
    ("ours over words and meanings", "bm25+dense", "default"),
    ("reranking what FAQs put first", "bm25+faq", "bm25+faq+rerank"),
    ("protecting it", "bm25+faq+rerank", "bm25+faq+rerank-protected"),
)


def measure(folder: Path, data: Path | None) -> dict[str, Any]:
    if data is None:
        say("Name the folder with the data sets: --data FOLDER, which holds " + ", ".join(DATASETS) + ".")
        return {}
    settings.RERANKER_MODEL = str(overlap_reranker(folder / "word-overlap"))
    results: dict[str, Any] = {"reranker": "word-overlap (counts shared word pieces)"}
    call_command("load_demo", verbosity=0)
    demo = EvaluationSet.objects.get()
    for name in (demo.name, *DATASETS):
        evaluation_set = demo if name == demo.name else load(read_dataset(data / name))
        evaluation_set.collections.update(granularities=["sentence"])
        sync_pending()
        results[name] = measure_set(evaluation_set)
    return results


def measure_set(evaluation_set: EvaluationSet) -> dict[str, Any]:
    has_faqs = evaluation_set.collections.filter(documents__faqs__isnull=False).exists()
    names = [name for name, profile in PROFILES.items() if _fits(profile, has_faqs)]
    # Each question as it is asked: what is compared is retrieval, without what rewriting adds.
    runs = {
        name: run(EvaluationRun.objects.create(evaluation_set=evaluation_set, profile=name, rewrites=False))
        for name in names
    }
    say()
    for line in table_lines(list(runs.values())):
        say(line)
    say()
    claims = [claim for claim in CLAIMS if claim[1] in runs and claim[2] in runs]
    return {
        "profiles": {name: each.results for name, each in runs.items()},
        "claims": [_tested(claim, runs, len(claims)) for claim in claims],
    }


def _fits(profile: Profile, has_faqs: bool) -> bool:
    needs_model = {Origin.HYDE, Origin.DENSE_PROPOSITION} & set(profile.origins)
    if needs_model and not client.is_configured() and profile.name != "aueb-ensemble":
        return False
    return has_faqs or Origin.FAQ not in profile.origins or profile.name == "default"


def _tested(claim: Sequence[str], runs: dict[str, EvaluationRun], comparisons: int) -> dict[str, Any]:
    title, without, with_it = claim
    found = compare(runs[without], runs[with_it], comparisons=comparisons)
    better = sum(flip.is_better for flip in found.flips)
    said = []
    for name, p in found.p_values.items():
        before, after = (means[name] for means in found.means)
        said.append(f"{name} {before:.3f} -> {after:.3f} ({(after - before) / before:+.1%}, p = {p:.4f})")
    say(f"- {title} ({without} -> {with_it}): {'; '.join(said)}; {better} better, {len(found.flips) - better} worse")
    return {"claim": title, "from": without, "to": with_it, "means": found.means, "p": found.p_values}
