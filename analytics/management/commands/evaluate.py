import json
from argparse import ArgumentParser, ArgumentTypeError
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from analytics.evaluation.answers.errors import JudgeUnavailable
from analytics.evaluation.answers.options import AnswerOptions, broken_off
from analytics.evaluation.answers.report import answer_lines
from analytics.evaluation.comparison import compare
from analytics.evaluation.coverage import measure_coverage
from analytics.evaluation.datasets import BadDataset, load, read_dataset
from analytics.evaluation.reporting import as_json, comparison_lines, coverage_lines, table_lines
from analytics.evaluation.runner import run
from analytics.models import EvaluationRun, EvaluationSet
from chat.pipeline.retrieval.profiles import UnknownProfile, get_profile
from core.management import progress_bar


class Command(BaseCommand):
    help = (
        "Measures a retrieval profile on a data set: a folder with corpus.jsonl, queries.jsonl, qrels.tsv and perhaps "
        "faqs.json. It is loaded once into a collection of its own, which answers nobody. With --answers the questions "
        "are answered as students are, and the answers measured; a run of that kind that was killed goes on."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path, metavar="DIR")
        parser.add_argument("--profile", default="default", metavar="NAME", help="(default: %(default)s)")
        parser.add_argument("--json", type=Path, metavar="FILE", help="write the results, with every question, here")
        parser.add_argument(
            "--compare",
            nargs=2,
            metavar=("A", "B"),
            help="instead of one profile: which questions B does better or worse",
        )
        parser.add_argument(
            "--as-asked", action="store_true", help="look follow-up questions up as they are, without their history"
        )
        parser.add_argument("--answers", action="store_true", help="answer the questions too, and measure the answers")
        parser.add_argument("--sample", type=at_least_one, metavar="N", help="answer only N questions, of every kind")
        parser.add_argument(
            "--samples", type=at_least_one, default=1, metavar="K", help="answer each K times (default: %(default)s)"
        )
        parser.add_argument(
            "--memory", action="store_true", help="ask follow-up questions once more without what was said before"
        )

    def handle(self, *, folder: Path, profile: str, **options: Any) -> None:
        names = options["compare"] or [profile]
        answers = AnswerOptions(options["sample"], options["samples"], options["memory"])
        if answers != AnswerOptions() and not options["answers"]:
            raise CommandError("--sample, --samples and --memory say how questions are answered: add --answers.")
        if options["as_asked"] and options["answers"]:
            raise CommandError("--as-asked measures retrieval alone: answers always go on from what was said before.")
        try:
            for name in names:
                get_profile(name)
            dataset = read_dataset(folder)
            with progress_bar("Indexing") as show:
                loaded = load(dataset, progress=show)
        except (UnknownProfile, BadDataset) as error:
            raise CommandError(str(error)) from error
        except OSError as error:
            raise CommandError(f"{error.filename} cannot be read: {error.strerror}.") from error
        runs = []
        for name in names:
            begun = start_run(loaded, name, answers if options["answers"] else None, rewrites=not options["as_asked"])
            try:
                with progress_bar(name) as show:
                    runs.append(run(begun, progress=show))
            except JudgeUnavailable as error:
                raise CommandError(str(error)) from error
        if options["json"]:
            documents = [as_json(each) for each in runs]
            text = json.dumps(documents if options["compare"] else documents[0], ensure_ascii=False, indent=1)
            options["json"].write_text(text + "\n", encoding="utf-8")
        for line in table_lines(runs):
            self.stdout.write(line)
        for each in runs:
            for line in answer_lines(each):
                self.stdout.write(line)
        if options["compare"]:
            for line in comparison_lines(compare(*runs)):
                self.stdout.write(line)
        for line in coverage_lines(measure_coverage(loaded)):
            self.stdout.write(line)


def start_run(
    evaluation_set: EvaluationSet, name: str, answers: AnswerOptions | None, *, rewrites: bool
) -> EvaluationRun:
    """Start a run, or go on with the one of that kind that was broken off. Raise UnknownProfile."""
    if answers is None:
        return EvaluationRun.objects.create(evaluation_set=evaluation_set, profile=name, rewrites=rewrites)
    profile = get_profile(name)
    return broken_off(evaluation_set, profile, answers) or EvaluationRun.objects.create(
        evaluation_set=evaluation_set, profile=name, answering=answers.as_row(profile)
    )


def at_least_one(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(f"{text!r} is no whole number of at least 1")
    return int(text)
