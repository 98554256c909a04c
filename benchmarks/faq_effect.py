"""From saving an edit to its effect on the next question, with a real, idle Celery worker beside it.

A FAQ edit adds a phrasing and links another document; it has taken effect when that phrasing, asked as a question,
ranks the new document first. A document edit changes its text; it has taken effect on a retriever when that ranks the
document first for a question about the new text. The clock starts before the transaction; every poll is a whole
retrieval, so the figures contain about one of these and half a pause.
"""

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.db import transaction

from benchmarks.environment import ROOT
from benchmarks.loading import Loader
from benchmarks.measuring import percentiles, table
from chat.pipeline.retrieval.profiles import get_profile, retrieve_with
from faqs.models import FAQ, FAQSource, Phrasing
from faqs.services import confirm_question, index_saved_faq
from knowledge.models import Document
from knowledge.retrieval.scope import build_scope
from knowledge.retrieval.search import Retrieval
from knowledge.retrieval.types import Origin
from knowledge.services.documents import save_document
from marcelcms.embedded.processes import Process, spawn

DOCUMENTS, FAQS, VERDICTS = 249, 100, 4
PAUSE = 0.005
PATIENCE = 120
#: No page is about one of these, so that only the edit can bring the document up; one for each round.
THINGS = (
    "trombone",
    "umbrella",
    "penguin",
    "lighthouse",
    "giraffe",
    "volcano",
    "submarine",
    "pumpkin",
    "violin",
    "tractor",
    "igloo",
    "cactus",
    "parachute",
    "dinosaur",
    "waffle",
    "glacier",
    "kangaroo",
    "telescope",
    "hammock",
    "pirate",
    "walrus",
    "accordion",
    "zeppelin",
    "octopus",
)
DEEDS = ("rent", "repair", "paint", "adopt", "borrow")


def measure(folder: Path, *, edits: int) -> dict[str, Any]:
    files = folder / "effect"
    files.mkdir()
    loader = Loader(files, embedded=20)
    loader.grow(DOCUMENTS)
    loader.add_faqs(FAQS)
    with worker(folder):
        for round_ in (-1, -2):  # loads the model in the worker and the index here
            edit_faq(round_)
            edit_document(round_)
        saved = {"faq": [edit_faq(round_) for round_ in range(edits)]}
        results: dict[str, Any] = {
            "edits": edits,
            "documents": DOCUMENTS,
            "faq": percentiles(both[1] for both in saved["faq"]),
            "faq_saving": percentiles(both[0] for both in saved["faq"]),
        }
        verdicts = [confirm(round_) for round_ in range(edits, edits + VERDICTS)]
        results["verdict_saving"] = percentiles(saved for saved, _effect in verdicts)
        results["verdict"] = percentiles(effect for _saved, effect in verdicts)
        documents = [edit_document(round_) for round_ in range(edits)]
        for name in documents[0]:
            results[name] = percentiles(effect[name] for effect in documents)
    table(
        ["from saving, ms", "p50", "p95"],
        [
            ["a FAQ: saved", *results["faq_saving"].values()],
            ["a FAQ: the next question finds it", *results["faq"].values()],
            ["a verdict on which FAQ was meant: saved", *results["verdict_saving"].values()],
            ["a verdict: the next like question finds the FAQ's page", *results["verdict"].values()],
            ["a document's text: saved", *results["document_saving"].values()],
            ["a document's text: in the lexical ranking", *results["lexical"].values()],
            ["a document's text: in the dense ranking", *results["dense"].values()],
        ],
    )
    return results


def edit_faq(round_: int) -> tuple[float, float]:
    """Milliseconds until saved, and until in effect."""
    question = f"Who will {deed(round_)} my {thing(round_)} number {round_ + 100}?"
    faq = FAQ.objects.order_by("pk")[round_ % FAQS]
    document = Document.objects.exclude(faq_sources__faq=faq).order_by("-pk")[(round_ * 7) % 100]
    started = time.perf_counter()
    with transaction.atomic():
        faq.save()
        Phrasing.objects.create(faq=faq, text=question)
        faq.sources.all().delete()
        FAQSource.objects.create(faq=faq, document=document)
        index_saved_faq(faq=faq)
    saved = since(started)
    poll(question, lambda found: found.hits and found.hits[0].document_id == document.pk)
    return saved, since(started)


def confirm(round_: int) -> tuple[float, float]:
    """Milliseconds until a verdict is saved, and until a question in other words is answered from the FAQ's page."""
    faq = FAQ.objects.order_by("pk")[(round_ * 3) % FAQS]
    source = FAQSource.objects.filter(faq=faq)[0]
    started = time.perf_counter()
    confirm_question(
        text=f"Who will {deed(round_)} my {thing(round_)}?",
        faq=faq,
        collections=[source.document.collection_id],
        by=None,
    )
    saved = since(started)
    question = f"My {thing(round_)}, who is going to {deed(round_)} it?"
    poll(question, lambda found: found.hits and found.hits[0].document_id == source.document_id)
    return saved, since(started)


def edit_document(round_: int) -> dict[str, float]:
    """Milliseconds until saved, and until in effect on each retriever."""
    document = Document.objects.order_by("pk")[round_ % 100]
    about = f"{thing(round_)} {deed(round_)}er"
    # One of its four sections changes, as in most edits.
    heading, _, rest = document.text.partition("\n\n")
    others = rest.partition("\n\n## ")[2]
    document.text = f"{heading}\n\nThe {about} is open. Anyone may visit the {about}.\n\n## {others}"
    question = f"Is the {about} open, and may I visit it?"
    started = time.perf_counter()
    save_document(document=document)
    effects = {"document_saving": since(started)}

    def look(found: Retrieval) -> bool:
        for origin in (Origin.LEXICAL, Origin.DENSE):
            run = found.runs[origin]
            if origin not in effects and run and run[0].document_id == document.pk:
                effects[origin] = since(started)
        return len(effects) == 3

    poll(question, look)
    return {str(name): value for name, value in effects.items()}


def poll(question: str, done: Callable[[Retrieval], object]) -> None:
    profile, scope = get_profile("default"), build_scope()
    deadline = time.monotonic() + PATIENCE
    while not done(retrieve_with(profile, question, scope=scope, k=6)):
        if time.monotonic() > deadline:
            raise RuntimeError(f"“{question}” did not find its document within {PATIENCE} s")
        time.sleep(PAUSE)


def since(started: float) -> float:
    return (time.perf_counter() - started) * 1000


def thing(round_: int) -> str:
    return THINGS[round_ % len(THINGS)]


def deed(round_: int) -> str:
    return DEEDS[round_ % len(DEEDS)]


@contextmanager
def worker(folder: Path) -> Iterator[Process]:
    """One Celery worker process, as `make run` starts it."""
    command = [sys.executable, "-m", "celery", "-A", "marcelcms", "worker", "--concurrency", "1"]
    process = spawn("worker", command, log=folder / "worker.log", env=os.environ, cwd=ROOT)
    try:
        yield process
    finally:
        process.stop()
