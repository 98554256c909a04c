"""Questions at once: how long each waits, beside the ideal of two cores.

32 tasks of one event loop ask without a pause, through the threads that answers use (`core.db.prepared`). Were the work
of a question spread over two cores without loss, each would wait 32 × the time of one question alone ÷ 2. Run it as
`taskset -c 0,1 …`: PostgreSQL shares the two cores then.
"""

import asyncio
import os
import time
from pathlib import Path
from typing import Any

from benchmarks.loading import Loader
from benchmarks.measuring import percentiles, say
from chat.pipeline.question import Question
from chat.pipeline.retrieval.search import retrieve
from chat.pipeline.understanding.route import understand
from knowledge.retrieval.query_vectors import forget_vectors

ASKERS, EACH, ALONE, CORES = 32, 15, 100, 2
DOCUMENTS, FAQS = 2_490, 300


def measure(folder: Path) -> dict[str, Any]:
    files = folder / "concurrency"
    files.mkdir()
    loader = Loader(files, embedded=100)
    loader.grow(DOCUMENTS)
    loader.add_faqs(FAQS)
    questions = loader.corpus.questions(ALONE + ASKERS * EACH, pages=loader.size)
    asyncio.run(ask_together(questions[:15], askers=1))
    forget_vectors()
    alone = asyncio.run(ask_together(questions[:ALONE], askers=1))
    started = time.perf_counter()
    waits = asyncio.run(ask_together(questions[ALONE:], askers=ASKERS))
    seconds = time.perf_counter() - started
    single, together = percentiles(alone), percentiles(waits)
    ideal = single["p50"] * ASKERS / CORES
    result = {
        "documents": DOCUMENTS,
        "cores": len(os.sched_getaffinity(0)),
        "alone_ms": single,
        "together_ms": together,
        "ideal_ms": round(ideal, 1),
        "p95_of_ideal": round(together["p95"] / ideal, 2),
        "questions_a_second": round(len(waits) / seconds, 1),
    }
    say(
        f"alone p50 {single['p50']:.1f} ms; {ASKERS} at once p50 {together['p50']:.0f}, p95 {together['p95']:.0f} ms "
        f"on {result['cores']} cores; the ideal of {CORES} cores is {ideal:.0f} ms, p95 is {result['p95_of_ideal']} "
        f"times that; {result['questions_a_second']} questions a second"
    )
    return result


async def ask_together(questions: list[str], *, askers: int) -> list[float]:
    """Return the milliseconds until each question's passages were found."""
    waits: list[float] = []

    async def ask_all(own: list[str]) -> None:
        for question in own:
            started = time.perf_counter()
            await retrieve(await understand(Question(question)))
            waits.append((time.perf_counter() - started) * 1000)

    await asyncio.gather(*(ask_all(questions[number::askers]) for number in range(askers)))
    return waits
