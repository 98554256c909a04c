"""`python -m benchmarks.ours`: a process that only retrieves, our way; a JSON question a line in, its times out."""

import os
import sys
import time

from benchmarks.environment import say_json
from benchmarks.measuring import resident_mib


def main() -> None:
    started = time.perf_counter()
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "marcelcms.settings")
    django.setup()

    from chat.pipeline.retrieval.candidates import load_candidates
    from chat.pipeline.retrieval.profiles import get_profile, retrieve_with
    from core.inference.embeddings import get_embedder
    from knowledge.indexing.generations import live_generation
    from knowledge.retrieval.live_index import lexical_index
    from knowledge.retrieval.scope import build_scope

    get_embedder().embed(["ready"])
    before = time.perf_counter()
    lexical_index(live_generation().pk).follow()
    now = time.perf_counter()
    say_json({"lexical_build_s": round(now - before, 2), "load_s": round(now - started, 2), "mib": resident_mib()})

    import json

    profile = get_profile("default")
    for line in sys.stdin:
        question = json.loads(line)
        if question is None:
            say_json({"mib": resident_mib()})
            continue
        started = time.perf_counter()
        scope = build_scope()
        scoped = time.perf_counter()
        retrieval = retrieve_with(profile, question, scope=scope, k=profile.sources)
        retrieved = time.perf_counter()
        candidates = load_candidates(retrieval.hits)
        ended = time.perf_counter()
        steps = {"scope": (scoped - started) * 1000, **retrieval.timings_ms, "load": (ended - retrieved) * 1000}
        total = (ended - started) * 1000
        steps["fuse"] = total - sum(steps.values())
        say_json({"ms": total, "steps": steps, "found": [candidate.url for candidate in candidates]})


if __name__ == "__main__":
    main()
