from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from core.inference.llm import client
from core.management import progress_bar
from knowledge.indexing.propositions import make, needed
from knowledge.models import Collection, Granularity

STOPPED = {
    "another": "Another process is making propositions just now: nothing was done, so that nothing is paid for twice.",
    "busy": "The language model has too much to do: run this again later, it goes on where it stopped.",
    "unreachable": "The language model cannot be reached: check LLM_BASE_URL and the server, then run this again.",
}


class Command(BaseCommand):
    help = (
        "Has the language model say passages as propositions, for the collections that ask for them. It can be stopped "
        "and run again at any time; nothing is paid for twice."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--collection", metavar="SLUG", help="this one only")
        parser.add_argument("--dry-run", action="store_true", help="only says what it would cost")

    def handle(self, *, collection: str | None, dry_run: bool, **options: Any) -> None:
        collection_id = self._collection(collection) if collection else None
        cost = needed(collection_id)
        self.stdout.write(f"{cost.passages} passages lack propositions: about {cost.prompt_tokens} prompt tokens.")
        if dry_run:
            return
        if not client.is_configured():
            raise CommandError("Propositions need a language model: set LLM_BASE_URL and LLM_MODEL.")
        with progress_bar("Propositions") as show:
            made = make(collection_id, progress=show)
        self.stdout.write(
            f"{made.propositions} propositions of {made.passages} passages; {made.failures} without a usable answer, "
            f"{made.left} left to do. {made.prompt_tokens} prompt tokens and {made.answer_tokens} answer tokens used."
        )
        if made.stopped:
            default = f"The language model did not answer as it should ({made.stopped}): check it, then run this again."
            raise CommandError(STOPPED.get(made.stopped, default))

    def _collection(self, slug: str) -> int:
        found = Collection.objects.filter(slug=slug).first()
        if found is None:
            known = ", ".join(Collection.objects.values_list("slug", flat=True)) or "none yet"
            raise CommandError(f"No collection is called {slug}. There are: {known}.")
        if Granularity.PROPOSITION not in found.granularities:
            raise CommandError(f"{slug} does not ask for propositions: tick them in the collection's settings first.")
        return found.pk
