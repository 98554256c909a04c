"""From the start of a process to its first answered question, and its memory then; each time a fresh process.

Ours is a web process as the image starts one (`docker/entrypoint web`) on the demo, asked over HTTP as soon as it takes
connections: consent, then the question, whose answer is quoted from the sources and read to its end. The peer is a
process that imports sentence-transformers, loads all-MiniLM-L6-v2 and looks one question up in the same passages
(`benchmarks.peer`), with no server around it.
"""

import json
import os
import statistics
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from django.core.management import call_command

from benchmarks.asking import PATIENCE, asked, first_word
from benchmarks.environment import ROOT, THREADS
from benchmarks.loading import as_minilm
from benchmarks.measuring import proportional_mib, resident_mib, say, table
from benchmarks.retrieval import write_faqs
from knowledge.indexing.generations import live_generation
from knowledge.models import Passage
from marcelcms.embedded.processes import free_port

ONE, BOTH = "all-MiniLM-L6-v2", "all-MiniLM-L6-v2+multilingual-e5-small"
QUESTION = "How much is the semester contribution?"
#: What is told of each start, in seconds and MiB.
Figures = dict[str, float]


def measure(folder: Path, *, starts: int) -> dict[str, Any]:
    call_command("load_demo", verbosity=0)
    files = written_for_peer(folder / "peer")
    found = in_turns(starts, {f"ours, {BOTH}": lambda: start_web(folder, BOTH)})
    index_with(ONE)
    found |= in_turns(
        starts, {f"ours, {ONE}": lambda: start_web(folder, ONE), f"peer, {ONE}": lambda: start_peer(files)}
    )
    medians = {
        name: {key: round(statistics.median(each[key] for each in all_), 2) for key in all_[0]}
        for name, all_ in found.items()
    }
    show(medians)
    return {"starts": starts, "passages": Passage.objects.count(), "medians": medians, "all": found}


def in_turns(starts: int, sides: Mapping[str, Callable[[], Figures]]) -> dict[str, list[Figures]]:
    """So many starts of each; a first one, which may have to read its files from the disk, is not counted."""
    found: dict[str, list[Figures]] = {name: [] for name in sides}
    for number in range(-1, starts):
        for name, start in sides.items():
            figures = start()
            if number >= 0:
                found[name].append(figures)
    return found


def index_with(model: str) -> None:
    """Build the index anew and have it answer."""
    command = [sys.executable, "-m", "django", "reindex"]
    subprocess.run(command, cwd=ROOT, env={**os.environ, "EMBEDDING_MODEL": model}, check=True, capture_output=True)


def written_for_peer(folder: Path) -> list[str]:
    """Return the demo's passages with their vectors, and its FAQs, which lead to any of them: only time is measured."""
    folder.mkdir()
    rows = list(
        Passage.objects.filter(generation=live_generation())
        .order_by("document_id", "position")
        .values_list("text", "embedding")
    )
    pages, vectors, faqs = (folder / name for name in ("pages.jsonl", "vectors.npy", "faqs.npz"))
    pages.write_text("".join(json.dumps(text) + "\n" for text, _vector in rows))
    np.save(vectors, as_minilm(np.array([vector for _text, vector in rows], np.float32)))
    write_faqs(faqs)
    return [str(path) for path in (pages, vectors, faqs)]


def start_web(folder: Path, model: str) -> Figures:
    """Seconds until it takes connections, until the first word and the end of its first answer; memory then."""
    port = free_port()
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    variables = {"PATH": path, "HOST": "127.0.0.1", "PORT": str(port), "EMBEDDING_MODEL": model, "STOP_SECONDS": "1"}
    began = time.perf_counter()
    with (folder / "web.log").open("a") as log:
        command = [ROOT / "docker" / "entrypoint", "web"]
        process = subprocess.Popen(command, cwd=ROOT, env={**os.environ, **variables}, stdout=log, stderr=log)
    try:
        token = json.loads(asked(port, "/api/v1/session", {"consent": True}, patience=PATIENCE).read())["token"]
        listening = time.perf_counter() - began
        body = {"client_id": str(uuid.uuid4()), "text": QUESTION}
        reply = asked(port, f"/api/v1/conversations/{uuid.uuid4()}/ask", body, token=token)
        first, text = first_word(reply), reply.read()
        answered = time.perf_counter() - began
        assert b'"status": "complete"' in text or b'"status":"complete"' in text, text[-500:]
        memory = {"rss_mib": resident_mib(process.pid), "pss_mib": proportional_mib([process.pid])}
    finally:
        process.terminate()
        process.wait(30)
    return {"listening_s": listening, "first_word_s": first - began, "answered_s": answered, **memory}


def start_peer(files: list[str]) -> Figures:
    """Seconds until it has looked up its first question; memory then."""
    python = os.environ.get("PEER_PYTHON", sys.executable)
    began = time.perf_counter()
    process = subprocess.Popen(
        [python, "-m", "benchmarks.peer", *files],
        cwd=ROOT,
        env={**os.environ, **THREADS},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    said = json.loads(process.stdout.readline())
    answered = time.perf_counter() - began
    memory = {"rss_mib": resident_mib(process.pid), "pss_mib": proportional_mib([process.pid])}
    process.communicate()
    say(f"peer's embedder: {said['embedder']}")
    return {"answered_s": answered, **memory}


def show(medians: dict[str, Figures]) -> None:
    rows = [
        [name, *(figures.get(key, "") for key in ("listening_s", "first_word_s", "answered_s", "rss_mib", "pss_mib"))]
        for name, figures in medians.items()
    ]
    table(["process", "takes connections, s", "first word, s", "answered, s", "RSS, MiB", "PSS, MiB"], rows)
