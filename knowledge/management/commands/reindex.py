import time
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand
from django.db.models import Sum
from django.db.models.functions import Length

from core.management import progress_bar
from knowledge.indexing.documents import build_pending, sync_pending
from knowledge.indexing.generations import generation_to_build, live_generation, load_embedder
from knowledge.models import Document, Generation

#: Embedded to measure how fast this machine is.
SAMPLE = ["Students apply for a place in a hall of residence with the housing office. " * 8] * 12
SAMPLE_CHARACTERS = sum(map(len, SAMPLE))


class Command(BaseCommand):
    help = (
        "Brings the index up to date: what is pending, and, where the settings ask for another embedding model or "
        "another length of passages, a whole new index beside the one that goes on answering. It can be stopped "
        "and started again at any time."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--estimate", action="store_true", help="only say how much there is to do")

    def handle(self, *, estimate: bool, **options: Any) -> None:
        building = generation_to_build()
        for label, generation in (("Index", live_generation()), ("New index", building)):
            if generation:
                self.stdout.write(f"{label} ({generation}): {self.estimate(generation)}")
        if estimate:
            return
        with progress_bar("Indexing") as show:
            sync_pending(progress=show)
        if building:
            with progress_bar("New index") as show:
                build_pending(progress=show)
            self.stdout.write("The new index answers from now on.")
        else:
            self.stdout.write("The index is up to date.")

    def estimate(self, generation: Generation) -> str:
        pending = Document.objects.needing_index(generation.pk)
        characters = pending.aggregate(sum=Sum(Length("text")))["sum"] or 0
        if not pending.exists():
            return "nothing to do."
        embedder = load_embedder(generation)
        embedder.embed(SAMPLE[:1])
        started = time.perf_counter()
        embedder.embed(SAMPLE)
        seconds = (time.perf_counter() - started) * characters / SAMPLE_CHARACTERS
        return f"{pending.count():,} documents, {characters:,} characters, at most about {_duration(seconds)}."


def _duration(seconds: float) -> str:
    minutes = round(seconds / 60)
    return f"{round(seconds)} s" if seconds < 90 else f"{minutes} min" if minutes < 90 else f"{minutes / 60:.1f} h"
