from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError

from analytics.management.commands.evaluate import at_least_one
from analytics.model_trials.report import Line, make_report
from analytics.model_trials.run import TrialFailed, run
from analytics.model_trials.services import QUESTIONS, prepare_trial
from analytics.models import ModelTrial
from chat.models import Assistant
from chat.models.assistants import default_assistant
from core.inference.embeddings import EmbeddingUnavailable
from core.inference.reranker import RerankerUnavailable
from core.jobs import JobStopped
from core.management import progress_bar
from knowledge.retrieval.scope import UnknownCollection

HEAD = ("right", "wrong", "declined", "held back", "first s", "all s", "tokens")


class Command(BaseCommand):
    help = (
        "Tries the language model on questions with known answers, with every layout of the prompt, keeps the best one "
        "and says whether the model helps or quoting without it is better. A trial that was stopped goes on."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--assistant", metavar="SLUG", help="whose questions and model (default: the first one)")
        parser.add_argument(
            "--questions",
            type=at_least_one,
            default=QUESTIONS,
            metavar="N",
            help="questions with an answer, of which a third comes first (default: %(default)s)",
        )

    def handle(self, *, assistant: str | None, questions: int, **options: Any) -> None:
        row = Assistant.objects.filter(slug=assistant).first() if assistant else default_assistant()
        if row is None:
            raise CommandError("There is no such assistant." if assistant else "There is no assistant yet.")
        try:
            trial = prepare_trial(assistant=row, wanted=questions)
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from error
        try:
            with progress_bar(trial.model) as show:
                run(trial, progress=show)
        except (TrialFailed, EmbeddingUnavailable, RerankerUnavailable, UnknownCollection) as error:
            trial.fail(str(error))
            self._report(trial)
            raise CommandError(f"{error} What was found is kept: run the command again.") from error
        except JobStopped as error:
            raise CommandError("Another process works on this trial, or it was stopped.") from error
        except KeyboardInterrupt:
            trial.cancel()
            self._report(trial)
            raise CommandError("Stopped. What was found is kept: run the command again to go on.") from None
        self._report(trial)

    def _report(self, trial: ModelTrial) -> None:
        """Write the table as far as there is one, and the verdict at the trial's end."""
        trial.refresh_from_db()
        report = make_report(trial)
        for line in table_lines(report.lines) if report.lines else ():
            self.stdout.write(line)
        for sentence in report.verdict:
            self.stdout.write(sentence)


def table_lines(lines: Sequence[Line]) -> Iterator[str]:
    """Yield the table, one way a line."""
    yield "".join(f"{name:>11}" for name in HEAD)
    for line in lines:
        each = line.tally
        first = "–" if each.first_seconds is None else f"{each.first_seconds:.1f}"
        cells = [
            f"{each.right}/{each.answerable}",
            f"{each.wrong}/{each.withheld}",
            f"{each.declined}/{each.answerable}",
            f"{each.held_back:.2f}",
            first,
            f"{each.seconds:.1f}",
            f"{each.tokens:.0f}",
        ]
        yield "".join(f"{cell:>11}" for cell in cells) + f"   {'* ' if line.is_used else ''}{line.label}"
