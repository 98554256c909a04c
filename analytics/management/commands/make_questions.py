from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from analytics.evaluation.questions.generation import Choice, Made, make_questions, needed
from analytics.models import EvaluationSet
from core.inference.embeddings import EmbeddingUnavailable
from core.inference.llm.client import is_configured
from core.management import progress_bar
from knowledge.models import Collection

STOPPED = {
    "another": "Another process is making questions just now: nothing was done, so that nothing is paid for twice.",
    "busy": "The language model has too much to do: run this again later, it goes on where it stopped.",
    "unreachable": "The language model cannot be reached: check LLM_BASE_URL and the server, then run this again.",
}


class Command(BaseCommand):
    help = (
        "Has the language model propose questions for an evaluation set, for staff to accept or reject. It can be "
        "stopped and run again at any time; nothing is paid for twice."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--set", required=True, dest="name", metavar="NAME", help="made where there is none")
        parser.add_argument(
            "--collection", action="append", default=[], metavar="SLUG", help="of these (default: those of the set)"
        )
        parser.add_argument("--passages", type=int, default=100, metavar="N", help="at most (default: %(default)s)")
        parser.add_argument("--seed", type=int, default=1, metavar="N", help="chooses others (default: %(default)s)")
        parser.add_argument("--dry-run", action="store_true", help="only says what it would cost")

    def handle(self, *, name: str, collection: list[str], passages: int, seed: int, **options: Any) -> None:
        if passages < 1:
            raise CommandError("--passages is at least 1.")
        found, collections = self._set(name), self._collections(collection)
        if found and not collections:
            collections = list(found.collections.all())
        if not collections:
            raise CommandError("Name the collections to ask about: --collection SLUG.")
        choice = Choice(tuple(each.pk for each in collections), passages=passages, seed=seed)
        cost = needed(choice, found)
        self.stdout.write(f"{cost.passages} passages to ask about: about {cost.prompt_tokens} prompt tokens.")
        if options["dry_run"]:
            return
        if not is_configured():
            raise CommandError("Questions need a language model: set LLM_BASE_URL and LLM_MODEL.")
        found = found or EvaluationSet.objects.create(name=name)
        found.collections.add(*collections)
        try:
            with progress_bar("Questions") as show:
                made = make_questions(found, choice, progress=show)
        except EmbeddingUnavailable as error:
            raise CommandError(str(error)) from error
        self._report(made)

    def _report(self, made: Made) -> None:
        self.stdout.write(
            f"{made.questions} questions proposed; {made.duplicates} dropped as duplicates, {made.unusable} as "
            f"unusable; {made.failures} passages without a question, {made.left} left to do."
        )
        self.stdout.write(
            f"{made.annotated} questions annotated with sentences and propositions, {made.unannotated} without a "
            f"usable answer. {made.prompt_tokens} prompt tokens and {made.answer_tokens} answer tokens used."
        )
        if made.stopped:
            default = f"The language model did not answer as it should ({made.stopped}): check it, then run this again."
            raise CommandError(STOPPED.get(made.stopped, default))

    def _set(self, name: str) -> EvaluationSet | None:
        found = list(EvaluationSet.objects.filter(name=name)[:2])
        if len(found) > 1:
            raise CommandError(f"Several evaluation sets are called {name}: rename one first.")
        if found and found[0].fingerprint:
            raise CommandError(f"{name} was loaded from files, which would no longer be what it holds: name another.")
        return found[0] if found else None

    def _collections(self, slugs: list[str]) -> list[Collection]:
        found = list(Collection.objects.filter(slug__in=slugs))
        if missing := sorted(set(slugs) - {each.slug for each in found}):
            known = ", ".join(Collection.objects.values_list("slug", flat=True)) or "none yet"
            raise CommandError(f"No collection is called {missing[0]}. There are: {known}.")
        return found
